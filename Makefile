# SPDX-License-Identifier: Apache-2.0
# The front door. Meson does the building (build/), pip the Python packages (.venv/).
PYTHON := /usr/bin/python3
PIP := .venv/bin/pip --disable-pip-version-check --quiet
SECONDS = 60
REPEATS = 1000
prefix = /usr/local
DESTDIR =

.PHONY: help dependencies test-dependencies build programs gateways demo-programs demo test guests lint format generate abi fuzz asan tsan torture bench install uninstall man packages packages-test wheel container image image-test clean

help: ## list what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

dependencies: ## install the Debian packages that building and running need
	@tools/dependencies build

test-dependencies:
	@tools/dependencies build test

build: build/build.ninja .venv/run ## build everything; leaves ./ringmaster
	@ninja -C build
	$(link_programs)

programs: build/build.ninja .venv/run ## build what runs, without tests; leaves ./ringmaster
	@ninja -C build programs
	$(link_programs)

# What is built so far, where `ringmaster` finds it.
define link_programs
	@mkdir -p build/libexec
	@find build -path build/libexec -prune -o -type f -perm -u+x \( -name 'ringmaster-*' -o -name 'libringmaster-twin.so' -o -path 'build/apps/*.so' \) -exec ln -sfr -t build/libexec {} +
	@find build/archive build/src/cameras build/src/fabric build/src/support -maxdepth 1 -name 'libringmaster*.so' -exec ln -sfr -t build/libexec {} +
	@install -m 755 tools/launcher ringmaster
endef

build/build.ninja: | dependencies
	@meson setup build

.venv/run: python/requirements.txt | dependencies
	@$(PYTHON) -m venv .venv
	@$(PIP) install --no-compile -r python/requirements.txt # what is imported is compiled then
	@$(PIP) install --no-build-isolation --no-deps -e python
	@touch $@

.venv/gateways: python/requirements-gateways.txt .venv/run
	@$(PIP) install -r python/requirements-gateways.txt
	@touch $@

# C++ on the pvxs that p4p brings, so it is built when that is there.
pva = build/libexec/libringmaster-pva.so
$(pva): gateways/pva/follow.cpp tools/build_pva.py .venv/gateways | build/build.ninja
	@.venv/bin/python tools/build_pva.py $@

gateways: programs .venv/gateways $(pva) ## build what runs, and install what `ringmaster gateway` needs

.venv/dev: python/requirements-dev.txt python/requirements-gateways.txt .venv/run | test-dependencies
	@$(PIP) install -r python/requirements-dev.txt
	@$(PIP) install --no-deps fa-archiver==1.0.0 # the client; its viewer would bring Qt
	@touch $@

demo-programs: build/build.ninja
	@ninja -C build demo
	$(link_programs)

demo: ## run a virtual ring and its server, live; DEMO_SECONDS=20 for a report
	@$(MAKE) --no-print-directory -j2 demo-programs .venv/run
	@./ringmaster demo

.venv/clients/made: python/requirements-clients.txt | .venv/run
	@$(PYTHON) -m venv .venv/clients
	@.venv/clients/bin/pip --disable-pip-version-check --quiet install --no-compile -r python/requirements-clients.txt
	@touch $@

.venv/tango/made: tools/unpack_packages tools/packages.txt | test-dependencies
	@tools/unpack_packages .venv/tango tango

build/guest/packages/made: tools/unpack_packages tools/packages.txt | test-dependencies
	@mkdir -p build/guest
	@tools/unpack_packages build/guest/packages guest

test: build .venv/dev .venv/clients/made .venv/tango/made build/guest/packages/made $(pva) ## run every test
	@.venv/bin/python tools/run_tests.py

guests: build .venv/dev build/guest/packages/made ## boot every test guest: network cards, emulated, in all ways to bind them
	@RINGMASTER_LONG_GUESTS=1 RINGMASTER_LIBEXEC=$(CURDIR)/build/libexec .venv/bin/python -m pytest \
	  -c python/pyproject.toml --rootdir . tests/guest

lint: build .venv/dev ## check rooms, format, types, generated files
	@tools/lint

format: .venv/dev ## format C and Python
	@git ls-files -z --cached --others --exclude-standard '*.c' '*.h' '*.cpp' | xargs -0 clang-format -i
	@.venv/bin/ruff format --config python/pyproject.toml .

generate: build/build.ninja .venv/dev ## remake the files made from counters.toml, abi.json, the twin's headers and the keys' schemas
	@$(PYTHON) tools/generate_counters.py
	@$(PYTHON) tools/generate_abi.py
	@.venv/bin/python tools/generate_declarations.py
	@ninja -C build tools/keys/write_keys
	@$(PYTHON) tools/generate_keys.py build/tools/keys/write_keys

abi: build/build.ninja ## freeze a new layout of shared memory, after raising RM_ABI_VERSION
	@ninja -C build src/fabric/abi/abi_dump
	@$(PYTHON) tools/check_abi.py build/src/fabric/abi/abi_dump --accept
	@$(MAKE) --no-print-directory generate

fuzz: | test-dependencies ## run every fuzzer for SECONDS=60
	@test -f build-fuzz/build.ninja || CC=clang meson setup build-fuzz -Dfuzz=true
	@ninja -C build-fuzz
	@tools/fuzz build-fuzz $(SECONDS)

asan tsan: | test-dependencies
	@test -f build-$@/build.ninja || CC=clang meson setup build-$@ -Doptimization=1 -Db_sanitize=$(SANITIZE) -Db_lundef=false
	@meson test -C build-$@ --timeout-multiplier 10 --print-errorlogs $(LEFT_OUT)
asan: SANITIZE = address,undefined ## run the C tests under the address and undefined-behaviour sanitizers
tsan: LEFT_OUT = --no-suite net --no-suite one-thread # DPDK is not built for it, and its own threads would be reported
tsan: SANITIZE = thread ## run the C tests under the thread sanitizer

torture: build .venv/dev ## make each fault of the guard's tests REPEATS=1000 times: some half an hour
	@RINGMASTER_LIBEXEC=$(CURDIR)/build/libexec RINGMASTER_TORTURE=$(REPEATS) .venv/bin/python -m pytest \
	  -c python/pyproject.toml --rootdir . tests/system/test_guard.py

bench: build .venv/dev ## measure what this machine can do, in a quarter of an hour; leaves a page in build/report
	@./ringmaster bench suite --report build/report

install: programs ## install everything below prefix=/usr/local; DESTDIR as usual
	@$(PYTHON) tools/install.py --destdir "$(DESTDIR)" "$(prefix)"

uninstall: ## take all of that away again
	@$(PYTHON) tools/install.py --destdir "$(DESTDIR)" "$(prefix)" --uninstall

man: programs ## make manual pages of commands and public headers in build/man
	@RINGMASTER_LIBEXEC=$(CURDIR)/build/libexec .venv/bin/python tools/command_pages.py build/man/man1 \
	  $$(./ringmaster --version) $$(date -I) $(addprefix build/libexec/ringmaster-,application calibration server)
	@.venv/bin/python tools/header_pages.py build/man/man3 $$(./ringmaster --version) $$(date -I)

packages: programs ## make Debian packages in build/packages
	@tools/dependencies packages
	@tools/make_packages

packages-test: build .venv/dev ## install, run, upgrade and purge them in a clean root; lintian
	@tools/dependencies packages roots
	@RINGMASTER_LIBEXEC=$(CURDIR)/build/libexec RINGMASTER_PACKAGES=1 .venv/bin/python -m pytest \
	  -c python/pyproject.toml --rootdir . -rP tests/system/test_packages.py tests/system/test_packages_life.py

wheel: programs ## make a Python wheel for programs that read, in build/wheel
	@.venv/bin/python tools/make_wheel.py build/wheel

container: packages ## make a container image of the packages, an OCI archive in build/container
	@tools/dependencies roots
	@tools/make_container

build/image/signed/made: tools/unpack_packages tools/packages.txt
	@tools/unpack_packages build/image/signed signed

image: packages build/image/signed/made ## make the stick's image of the packages, as root: build/image/ringmaster.img
	@tools/dependencies image
	@tools/make_image.py

image-test: build .venv/dev ## boot that image, by BIOS and by UEFI, and stream to its cards: minutes, by emulation
	@tools/dependencies image
	@RINGMASTER_IMAGE=1 RINGMASTER_LIBEXEC=$(CURDIR)/build/libexec .venv/bin/python -m pytest \
	  -c python/pyproject.toml --rootdir . --basetemp build/image/test -s tests/guest/test_image.py

clean: ## remove what was built
	@rm -rf build build-fuzz build-asan build-tsan ringmaster
