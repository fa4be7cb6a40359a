// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system has it, until somebody chooses; #dark and #light in the address choose, too.
const root = document.documentElement;
const asked = location.hash.slice(1);
if (asked === "light" || asked === "dark") root.dataset.scheme = asked;
document.querySelector("#scheme").addEventListener("click", () => {
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.scheme = (root.dataset.scheme ?? system) === "dark" ? "light" : "dark";
});

// A command is copied by its button, or marked where the browser does not let a page copy.
for (const button of document.querySelectorAll(".command button")) {
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "marked";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
}

// Paper has no details to open.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));
