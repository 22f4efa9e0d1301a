;; WASI 0.1 in terms of 0.2, without files, arguments, environment and sockets.
;;
;; It uses the module's memory and reserves none of it, because some compilers use the whole memory of a
;; module. WASI 0.2 writes its results to the first 16 bytes, whose content is restored afterwards.
;;
;; Error numbers of WASI 0.1: 0 is success, 8 a bad file descriptor, 52 a function that is not supported.
(module
  (import "env" "memory" (memory 0))
  (import "wasi:random/random@0.2.0" "get-random-u64" (func $random (result i64)))
  (import "wasi:clocks/monotonic-clock@0.2.0" "now" (func $monotonic (result i64)))
  (import "wasi:clocks/wall-clock@0.2.0" "now" (func $wall (param i32)))
  (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
  (import "wasi:cli/stderr@0.2.0" "get-stderr" (func $stderr (result i32)))
  (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush"
    (func $write (param i32 i32 i32 i32)))
  (import "wasi:io/streams@0.2.0" "[resource-drop]output-stream" (func $drop (param i32)))

  ;; How far the program's time is ahead of the clock, in nanoseconds. Sleeping increases it.
  (global $ahead (mut i64) (i64.const 0))

  (func $now (result i64)
    (i64.add (call $monotonic) (global.get $ahead)))

  (func (export "clock_time_get") (param $clock i32) (param $precision i64) (param $time i32) (result i32)
    (local $first i64) (local $second i64) (local $now i64)
    (if (local.get $clock)
      (then
        (i64.store (local.get $time) (call $now))
        (return (i32.const 0))))
    (local.set $first (i64.load (i32.const 0)))
    (local.set $second (i64.load (i32.const 8)))
    (call $wall (i32.const 0))
    (local.set $now
      (i64.add
        (i64.mul (i64.load (i32.const 0)) (i64.const 1000000000))
        (i64.load32_u (i32.const 8))))
    (i64.store (i32.const 0) (local.get $first))
    (i64.store (i32.const 8) (local.get $second))
    (i64.store (local.get $time) (i64.add (local.get $now) (global.get $ahead)))
    (i32.const 0))

  (func (export "clock_res_get") (param $clock i32) (param $resolution i32) (result i32)
    (i64.store (local.get $resolution) (i64.const 1000))
    (i32.const 0))

  (func (export "random_get") (param $to i32) (param $length i32) (result i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $to) (local.get $length)))
    (loop $bytes
      (if (i32.lt_u (local.get $to) (local.get $end))
        (then
          (i32.store8 (local.get $to) (i32.wrap_i64 (call $random)))
          (local.set $to (i32.add (local.get $to) (i32.const 1)))
          (br $bytes))))
    (i32.const 0))

  ;; Writes to standard output (1) or standard error (2), in parts that WASI 0.2 takes at once.
  (func $print (param $file i32) (param $from i32) (param $length i32)
    (local $stream i32) (local $part i32) (local $first i64) (local $second i64)
    (local.set $stream
      (if (result i32) (i32.eq (local.get $file) (i32.const 1))
        (then (call $stdout))
        (else (call $stderr))))
    (loop $parts
      (if (local.get $length)
        (then
          (local.set $part
            (select (i32.const 4096) (local.get $length)
              (i32.gt_u (local.get $length) (i32.const 4096))))
          (local.set $first (i64.load (i32.const 0)))
          (local.set $second (i64.load (i32.const 8)))
          (call $write (local.get $stream) (local.get $from) (local.get $part) (i32.const 0))
          (i64.store (i32.const 0) (local.get $first))
          (i64.store (i32.const 8) (local.get $second))
          (local.set $from (i32.add (local.get $from) (local.get $part)))
          (local.set $length (i32.sub (local.get $length) (local.get $part)))
          (br $parts))))
    (call $drop (local.get $stream)))

  (func $is_output (param $file i32) (result i32)
    (i32.le_u (i32.sub (local.get $file) (i32.const 1)) (i32.const 1)))

  (func (export "fd_write") (param $file i32) (param $parts i32) (param $count i32) (param $written i32) (result i32)
    (local $total i32)
    (if (i32.eqz (call $is_output (local.get $file))) (then (return (i32.const 8))))
    (loop $each
      (if (local.get $count)
        (then
          (call $print (local.get $file) (i32.load (local.get $parts)) (i32.load offset=4 (local.get $parts)))
          (local.set $total (i32.add (local.get $total) (i32.load offset=4 (local.get $parts))))
          (local.set $parts (i32.add (local.get $parts) (i32.const 8)))
          (local.set $count (i32.sub (local.get $count) (i32.const 1)))
          (br $each))))
    (i32.store (local.get $written) (local.get $total))
    (i32.const 0))

  ;; Standard input is empty.
  (func (export "fd_read") (param $file i32) (param $parts i32) (param $count i32) (param $read i32) (result i32)
    (if (local.get $file) (then (return (i32.const 8))))
    (i32.store (local.get $read) (i32.const 0))
    (i32.const 0))

  ;; The three standard files are character devices (2) with every right.
  (func (export "fd_fdstat_get") (param $file i32) (param $status i32) (result i32)
    (if (i32.gt_u (local.get $file) (i32.const 2)) (then (return (i32.const 8))))
    (i64.store (local.get $status) (i64.const 2))
    (i64.store offset=8 (local.get $status) (i64.const -1))
    (i64.store offset=16 (local.get $status) (i64.const 0))
    (i32.const 0))

  ;; A sleep returns at once and advances the program's time. Nothing else can be waited for.
  (func (export "poll_oneoff") (param $wanted i32) (param $events i32) (param $count i32) (param $happened i32) (result i32)
    (local $wait i64)
    (if (i32.or (i32.eqz (local.get $count)) (i32.load8_u offset=8 (local.get $wanted)))
      (then (return (i32.const 52))))
    (local.set $wait (i64.load offset=24 (local.get $wanted)))
    ;; If the lowest flag is set, the time-out is an absolute time.
    (if (i32.and (i32.load16_u offset=40 (local.get $wanted)) (i32.const 1))
      (then (local.set $wait (i64.sub (local.get $wait) (call $now)))))
    (if (i64.gt_s (local.get $wait) (i64.const 0))
      (then (global.set $ahead (i64.add (global.get $ahead) (local.get $wait)))))
    (i64.store (local.get $events) (i64.load (local.get $wanted)))
    (i64.store offset=8 (local.get $events) (i64.const 0))
    (i64.store offset=16 (local.get $events) (i64.const 0))
    (i64.store offset=24 (local.get $events) (i64.const 0))
    (i32.store (local.get $happened) (i32.const 1))
    (i32.const 0))

  (func (export "proc_exit") (param $code i32) (unreachable))
  (func (export "sched_yield") (result i32) (i32.const 0))

  (func $none (param $count i32) (param $size i32) (result i32)
    (i32.store (local.get $count) (i32.const 0))
    (i32.store (local.get $size) (i32.const 0))
    (i32.const 0))
  (func (export "args_sizes_get") (param i32 i32) (result i32) (call $none (local.get 0) (local.get 1)))
  (func (export "environ_sizes_get") (param i32 i32) (result i32) (call $none (local.get 0) (local.get 1)))
  (func (export "args_get") (param i32 i32) (result i32) (i32.const 0))
  (func (export "environ_get") (param i32 i32) (result i32) (i32.const 0))

  ;; No file but the standard ones is open.
  (func (export "fd_close") (param i32) (result i32) (i32.const 0))
  (func (export "fd_fdstat_set_flags") (param i32 i32) (result i32) (i32.const 0))
  (func (export "fd_prestat_get") (param i32 i32) (result i32) (i32.const 8))
  (func (export "fd_prestat_dir_name") (param i32 i32 i32) (result i32) (i32.const 8))

  (func (export "fd_advise") (param i32 i64 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_allocate") (param i32 i64 i64) (result i32) (i32.const 52))
  (func (export "fd_datasync") (param i32) (result i32) (i32.const 52))
  (func (export "fd_fdstat_set_rights") (param i32 i64 i64) (result i32) (i32.const 52))
  (func (export "fd_filestat_get") (param i32 i32) (result i32) (i32.const 52))
  (func (export "fd_filestat_set_size") (param i32 i64) (result i32) (i32.const 52))
  (func (export "fd_filestat_set_times") (param i32 i64 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_pread") (param i32 i32 i32 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_pwrite") (param i32 i32 i32 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_readdir") (param i32 i32 i32 i64 i32) (result i32) (i32.const 52))
  (func (export "fd_renumber") (param i32 i32) (result i32) (i32.const 52))
  (func (export "fd_seek") (param i32 i64 i32 i32) (result i32) (i32.const 52))
  (func (export "fd_sync") (param i32) (result i32) (i32.const 52))
  (func (export "fd_tell") (param i32 i32) (result i32) (i32.const 52))
  (func (export "path_create_directory") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_filestat_get") (param i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_filestat_set_times") (param i32 i32 i32 i32 i64 i64 i32) (result i32) (i32.const 52))
  (func (export "path_link") (param i32 i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_open") (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32) (i32.const 52))
  (func (export "path_readlink") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_remove_directory") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_rename") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_symlink") (param i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "path_unlink_file") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "proc_raise") (param i32) (result i32) (i32.const 52))
  (func (export "sock_accept") (param i32 i32 i32) (result i32) (i32.const 52))
  (func (export "sock_recv") (param i32 i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "sock_send") (param i32 i32 i32 i32 i32) (result i32) (i32.const 52))
  (func (export "sock_shutdown") (param i32 i32) (result i32) (i32.const 52))
)
