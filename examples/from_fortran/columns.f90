! columns.f90 - systems along an axis of Fortran arrays, by cpu_avx.h: vertical mixing in an ocean with land.
! MIT licence, see LICENSE.
!
! In the kit's folder:
!
!     gcc -std=c11 -O3 -fopenmp -I. -c examples/from_fortran/kit.c
!     gfortran -std=f2003 -O2 -fopenmp -o columns examples/from_fortran/columns.f90 kit.o && ./columns
!
! A field t(i, j, level) has the same number of levels everywhere. The first depth(i, j) levels of column (i, j) are
! water; on land there are none. Below the water a row is 1 x = d, so the value there stays, and does not affect the
! water above. Without sources a step of mixing keeps the heat of each column. The program checks this. To compare, it
! solves one column alone, and all columns in bands.

module triband
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        function kit_solve_one(n, a, b, c, d, x, work) bind(c) result(status)
            import
            integer(c_int), value :: n
            real(c_double), intent(in) :: a(*), b(*), c(*), d(*)
            real(c_double) :: x(*), work(*)
            integer(c_int) :: status
        end function
        function kit_axis_bytes(nx, ny, nz, axis, threads) bind(c) result(bytes)
            import
            integer(c_int), value :: nx, ny, nz, axis, threads
            integer(c_size_t) :: bytes
        end function
        function kit_solve_axis(nx, ny, nz, axis, a, b, c, d, x, work, threads) bind(c) result(status)
            import
            integer(c_int), value :: nx, ny, nz, axis, threads
            real(c_double), intent(in) :: a(*), b(*), c(*), d(*)
            real(c_double) :: x(*)
            integer(c_int8_t) :: work(*)
            integer(c_int) :: status
        end function
        function kit_solve_band(columns, first, width, levels, a, b, c, x, work, threads) bind(c) result(status)
            import
            integer(c_int), value :: columns, first, width, levels, threads
            real(c_double), intent(in) :: a(*), b(*), c(*)
            real(c_double) :: x(*)
            integer(c_int8_t) :: work(*)
            integer(c_int) :: status
        end function
    end interface
end module

program columns
    use triband
    implicit none
    integer, parameter :: nx = 30, ny = 20, levels = 40, threads = 2, vertical = 2
    real(c_double), parameter :: rate = 5, dry = -999
    ! Without save, -fopenmp puts these on the stack.
    real(c_double), dimension(nx, ny, levels), save :: a, b, c, t, x, banded
    real(c_double), dimension(levels) :: alone, scratch
    integer(c_int8_t), allocatable :: work(:)
    integer :: depth(nx, ny), i, j, k, island, status, changed
    real(c_double) :: worst

    do j = 1, ny
        do i = 1, nx
            island = (i - 16)**2 + (j - 9)**2
            depth(i, j) = merge(island - mod(island, 5), levels, island < levels)
        end do
    end do
    do k = 1, levels
        a(:, :, k) = merge(-rate, 0._c_double, k > 1 .and. k <= depth)
        c(:, :, k) = merge(-rate, 0._c_double, k < depth)
        b(:, :, k) = 1 - a(:, :, k) - c(:, :, k)
        t(:, :, k) = merge(4 + 16._c_double / k, dry, k <= depth)
    end do

    allocate(work(kit_axis_bytes(nx, ny, levels, vertical, threads)))
    status = kit_solve_axis(nx, ny, levels, vertical, a, b, c, t, x, work, threads)
    if (status /= 0) stop 1

    worst = 0
    changed = 0
    do j = 1, ny
        do i = 1, nx
            k = depth(i, j)
            changed = changed + count(.not. abs(x(i, j, k + 1:) - dry) <= 0)
            if (k > 0) worst = max(worst, abs(sum(x(i, j, :k) - t(i, j, :k)) / sum(t(i, j, :k))))
        end do
    end do
    status = kit_solve_one(levels, a(1, 1, :), b(1, 1, :), c(1, 1, :), t(1, 1, :), alone, scratch)
    if (status /= 0 .or. .not. maxval(abs(alone - x(1, 1, :))) < 1e-12) stop 1

    ! The same in bands, each as deep as its deepest column; here a band is a line of the map.
    banded = t
    do j = 1, ny
        status = kit_solve_band(nx * ny, (j - 1) * nx, nx, maxval(depth(:, j)), a, b, c, banded, work, threads)
        if (status /= 0) stop 1
    end do
    if (.not. maxval(abs(banded - x)) < 1e-12) stop 1

    print '(i0, a, i0, a, i0, a, a)', nx * ny, ' columns, ', count(depth == 0), &
        ' of them land: ', changed, ' numbers changed below the bottom, heat is ', &
        trim(merge('kept    ', 'not kept', worst < 1e-14))
    if (.not. worst < 1e-14 .or. changed /= 0) stop 1
end program
