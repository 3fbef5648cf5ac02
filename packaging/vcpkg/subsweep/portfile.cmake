# vcpkg install subsweep --overlay-ports=packaging/vcpkg, in a clone or an unpacked source archive. It needs Rust.
find_program(CARGO cargo PATHS "$ENV{HOME}/.cargo/bin")
if(NOT CARGO)
    message(FATAL_ERROR "cargo is missing: install Rust from https://rustup.rs, then try again")
endif()
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
get_filename_component(CARGO_FOLDER "${CARGO}" DIRECTORY)

# cargo has no debug library for C: both configurations of a program link to this one.
set(VCPKG_BUILD_TYPE release)
vcpkg_execute_required_process(
    COMMAND "${CMAKE_COMMAND}" -E env "PATH=${CARGO_FOLDER}:$ENV{PATH}" "CARGO_TARGET_DIR=${CURRENT_BUILDTREES_DIR}/target"
        "${SOURCE_PATH}/tools/capi" "${CURRENT_PACKAGES_DIR}"
    WORKING_DIRECTORY "${SOURCE_PATH}"
    LOGNAME "build-${TARGET_TRIPLET}"
)

# tools/capi installs both libraries, and a triplet has one.
if(VCPKG_LIBRARY_LINKAGE STREQUAL "static")
    file(GLOB OTHER "${CURRENT_PACKAGES_DIR}/lib/*.so*" "${CURRENT_PACKAGES_DIR}/lib/*.dylib")
else()
    set(OTHER "${CURRENT_PACKAGES_DIR}/lib/libsubsweep.a")
endif()
file(REMOVE ${OTHER})

# vcpkg's place of these files is one folder higher.
file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
file(RENAME "${CURRENT_PACKAGES_DIR}/lib/cmake/subsweep" "${CURRENT_PACKAGES_DIR}/share/subsweep")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/cmake")
vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/share/subsweep/subsweep-config.cmake" "/../../.." "/../..")
vcpkg_fixup_pkgconfig()
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/subsweep")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE-MIT" "${SOURCE_PATH}/LICENSE-APACHE")
