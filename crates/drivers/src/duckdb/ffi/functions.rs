//! The functions of DuckDB's C API that the driver calls, as its documentation describes them
//! (<https://duckdb.org/docs/stable/clients/c/api>), found by name in a library that is loaded at
//! run time.
//!
//! Not here: calls, which are in the parent module.

use std::ffi::{c_char, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// Handle of DuckDB: an address that only DuckDB reads.
pub(super) type Handle = *mut c_void;

/// Result of most functions: 0 for success, 1 for an error.
pub(super) type State = u32;
pub(super) const SUCCESS: State = 0;

/// DuckDB's `duckdb_result`, which is passed by value or by address. Its fields are deprecated or
/// internal.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawResult {
    deprecated: [u64; 3],
    pointers: [*mut c_void; 3],
}

impl RawResult {
    pub(super) const EMPTY: RawResult =
        RawResult { deprecated: [0; 3], pointers: [std::ptr::null_mut(); 3] };
}

/// DuckDB's `duckdb_decimal`: a decimal with at most `width` digits, `scale` of them behind the
/// point. The value is a 128-bit integer in two's complement.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct RawDecimal {
    pub(super) width: u8,
    pub(super) scale: u8,
    pub(super) lower: u64,
    pub(super) upper: i64,
}

macro_rules! functions {
    ($($name:ident($($given:ty),*) $(-> $returned:ty)?;)*) => {
        /// Addresses of DuckDB's functions, each named without the prefix `duckdb_`.
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($given),*) $(-> $returned)?,)*
            /// The functions are in this library, so it stays loaded as long as they are known.
            _library: Library,
        }

        impl Functions {
            /// Loads a library and finds all functions in it. Fails with the loader's message.
            pub(super) fn load(library: &Path) -> Result<Functions, libloading::Error> {
                // SAFETY: the library is DuckDB, named by the user or installed in the system; its
                // initialisers prepare only itself.
                let library = unsafe { Library::open(Some(library), RTLD_NOW | RTLD_LOCAL) }?;
                Ok(Functions {
                    // SAFETY: the documentation declares the function with these types.
                    $($name: unsafe {
                        *library.get(concat!("duckdb_", stringify!($name), "\0").as_bytes())?
                    },)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    library_version() -> *const c_char;
    free(*mut c_void);
    create_config(*mut Handle) -> State;
    set_config(Handle, *const c_char, *const c_char) -> State;
    destroy_config(*mut Handle);
    open_ext(*const c_char, *mut Handle, Handle, *mut *mut c_char) -> State;
    close(*mut Handle);
    connect(Handle, *mut Handle) -> State;
    interrupt(Handle);
    disconnect(*mut Handle);

    extract_statements(Handle, *const c_char, *mut Handle) -> u64;
    extract_statements_error(Handle) -> *const c_char;
    prepare_extracted_statement(Handle, Handle, u64, *mut Handle) -> State;
    destroy_extracted(*mut Handle);
    prepare(Handle, *const c_char, *mut Handle) -> State;
    prepare_error(Handle) -> *const c_char;
    destroy_prepare(*mut Handle);
    nparams(Handle) -> u64;
    param_type(Handle, u64) -> u32;
    param_logical_type(Handle, u64) -> Handle;

    bind_null(Handle, u64) -> State;
    bind_int16(Handle, u64, i16) -> State;
    bind_int32(Handle, u64, i32) -> State;
    bind_int64(Handle, u64, i64) -> State;
    bind_double(Handle, u64, f64) -> State;
    bind_decimal(Handle, u64, RawDecimal) -> State;
    bind_date(Handle, u64, i32) -> State;
    bind_timestamp(Handle, u64, i64) -> State;
    bind_varchar_length(Handle, u64, *const c_char, u64) -> State;
    bind_blob(Handle, u64, *const c_void, u64) -> State;

    pending_prepared_streaming(Handle, *mut Handle) -> State;
    pending_error(Handle) -> *const c_char;
    execute_pending(Handle, *mut RawResult) -> State;
    destroy_pending(*mut Handle);
    result_error(*mut RawResult) -> *const c_char;
    result_return_type(RawResult) -> u32;
    column_count(*mut RawResult) -> u64;
    column_name(*mut RawResult, u64) -> *const c_char;
    column_logical_type(*mut RawResult, u64) -> Handle;
    fetch_chunk(RawResult) -> Handle;
    destroy_result(*mut RawResult);

    get_type_id(Handle) -> u32;
    decimal_width(Handle) -> u8;
    decimal_scale(Handle) -> u8;
    decimal_internal_type(Handle) -> u32;
    destroy_logical_type(*mut Handle);

    vector_size() -> u64;
    create_data_chunk(*mut Handle, u64) -> Handle;
    data_chunk_reset(Handle);
    data_chunk_get_size(Handle) -> u64;
    data_chunk_set_size(Handle, u64);
    data_chunk_get_vector(Handle, u64) -> Handle;
    destroy_data_chunk(*mut Handle);
    vector_get_data(Handle) -> *mut c_void;
    vector_get_validity(Handle) -> *mut u64;
    vector_ensure_validity_writable(Handle);
    vector_assign_string_element_len(Handle, u64, *const c_char, u64);

    appender_create(Handle, *const c_char, *const c_char, *mut Handle) -> State;
    appender_column_count(Handle) -> u64;
    appender_column_type(Handle, u64) -> Handle;
    appender_error(Handle) -> *const c_char;
    append_data_chunk(Handle, Handle) -> State;
    appender_flush(Handle) -> State;
    appender_destroy(*mut Handle) -> State;
}
