"""A recipe for Conan 2: conan create packaging/conan, in a clone or an unpacked source archive. It needs Rust."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import cross_building
from conan.tools.files import copy, load, rm, rmdir


class Subsweep(ConanFile):
    name = "subsweep"
    description = "Scans, radix sorts and stream primitives for Vulkan, recorded into your own command buffer"
    license = "MIT OR Apache-2.0"
    topics = ("vulkan", "gpu", "radix-sort", "prefix-sum", "scan")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        manifest = load(self, os.path.join(self._root, "Cargo.toml"))
        self.version = re.search(r'^version = "(.*)"$', manifest, re.MULTILINE)[1]

    def export_sources(self):
        copy(self, "*", self._root, self.export_sources_folder, excludes=(".git/*", "target/*", "*/target/*"))

    def requirements(self):
        # subsweep.h includes vulkan_core.h.
        self.requires("vulkan-headers/[>=1.2.162 <2]", transitive_headers=True)

    def validate(self):
        if self.settings.os not in ("Linux", "Macos"):
            raise ConanInvalidConfiguration("tools/capi installs on Linux and macOS")
        if cross_building(self):
            raise ConanInvalidConfiguration("tools/capi builds for the machine that it runs on")

    def build(self):
        # The package folder holds what the option leaves of both libraries.
        os.environ["CARGO_TARGET_DIR"] = os.path.join(self.build_folder, "target")
        installed = os.path.join(self.build_folder, "installed")
        self.run(f'"{os.path.join(self.source_folder, "tools", "capi")}" "{installed}"')

    def package(self):
        copy(self, "LICENSE-*", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*", os.path.join(self.build_folder, "installed"), self.package_folder)
        libraries = os.path.join(self.package_folder, "lib")
        for pattern in ("*.a",) if self.options.shared else ("*.so*", "*.dylib"):
            rm(self, pattern, libraries)
        # Conan writes its own.
        rmdir(self, os.path.join(libraries, "cmake"))

    def package_id(self):
        # cargo builds it, always optimized.
        del self.info.settings.compiler
        del self.info.settings.build_type

    def package_info(self):
        self.cpp_info.libs = ["subsweep"]
        alias = "subsweep::shared" if self.options.shared else "subsweep::static"
        self.cpp_info.set_property("cmake_target_aliases", [alias])
        if not self.options.shared:
            pc = load(self, os.path.join(self.package_folder, "lib", "pkgconfig", "subsweep.pc"))
            private = re.search(r"^Libs.private: (.*)$", pc, re.MULTILINE)[1]
            self.cpp_info.system_libs = re.findall(r"-l(\S+)", private)
            self.cpp_info.frameworks = re.findall(r"-framework (\S+)", private)
