/* batch_table.cc - which kernel of trid/batch.h serves which size: asks the launches themselves, without launching.
   MIT licence, see LICENSE.

   bench/batch_table.sh compiles and runs this; it needs no GPU. Functions that note the kernel replace trid_launch and
   trid_launch_cluster. The kernel's symbol has its name and template arguments, whose names come from its room.
   The stand-in for trid_clusters finds room for clusters, and that for cudaMemsetAsync clears nothing. */
#include "trid.h"
#include "trid/launch.h"

#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <tuple>
#include <vector>

struct launch {
    const void *kernel;
    int blocks, threads; /* of a cluster, of a block */
    bool operator<(const launch &l) const
    {
        return std::tie(kernel, blocks, threads) < std::tie(l.kernel, l.blocks, l.threads);
    }
};
static std::vector<launch> noted;
static bool all_sizes; /* --all; else n ends at 16384, and of a long system only the first level is shown */

template <class... P, class... A>
static cudaError_t note(void (*kernel)(P...), dim3, dim3 block, size_t, cudaStream_t, const A &...)
{
    noted.push_back({(const void *)kernel, 1, (int)block.x});
    return cudaSuccess;
}
template <class... P, class... A>
static cudaError_t note_cluster(void (*kernel)(P...), dim3, int blocks, dim3 block, size_t, cudaStream_t, const A &...)
{
    noted.push_back({(const void *)kernel, blocks, (int)block.x});
    return cudaSuccess;
}
template <class... A>
static int clusters_that_fit(const A &...)
{
    return 100;
}
template <class... A>
static cudaError_t clear_nothing(const A &...)
{
    return cudaSuccess;
}
#define trid_launch note
#define trid_launch_cluster note_cluster
#define trid_clusters clusters_that_fit
#define cudaMemsetAsync clear_nothing
static int many_tiles; /* the least number for a wide cluster: with 0, any number is many */
#define TRID_P_BATCH_MANY_TILES many_tiles
#include "trid/batch.h"
#undef trid_launch
#undef trid_launch_cluster
#undef trid_clusters
#undef cudaMemsetAsync

/* ---- names ------------------------------------------------------------------------------------------------------- */

static std::map<const void *, std::string> symbols;

static void read_symbols(const char *program)
{
    char line[1024];
    FILE *nm = popen(("nm -C '" + std::string(program) + "'").c_str(), "r");
    while (nm && fgets(line, sizeof line, nm)) {
        char *name = strstr(line, "trid_p_batch_");
        if (name) symbols[(const void *)strtoull(line, NULL, 16)] = name + strlen("trid_p_batch_");
    }
    if (!nm || pclose(nm) || symbols.empty()) fprintf(stderr, "batch_table: nm finds no kernels\n"), exit(1);
}

/* The names of a kernel's numeric template parameters, from its room: "int k, int path" of the template above it. */
static std::map<std::string, std::vector<std::string>> parameters;

static void read_room(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) perror(path), exit(1);
    char line[1024];
    std::vector<std::string> names;
    bool is_kernel = false;
    while (fgets(line, sizeof line, file)) {
        if (!strncmp(line, "template <", 10)) {
            names.clear();
            is_kernel = false;
            for (const char *at = line; (at = strstr(at, "int ")); at += 4)
                names.push_back(std::string(at + 4, strcspn(at + 4, ",> ")));
        }
        if (!strncmp(line, "TRID_KERNEL", 11)) is_kernel = true;
        const char *name = strstr(line, "trid_p_batch_"), *end = name ? strchr(name, '(') : NULL;
        if (end && is_kernel) {
            name += strlen("trid_p_batch_");
            parameters[std::string(name, (size_t)(end - name))] = names;
            is_kernel = false;
        }
    }
    fclose(file);
}

/* The parameters of trid_p_batch_shape, an argument of the kernels for interleaved systems. */
static const std::vector<std::string> of_shape = {"k", "systems", "parts", "burst", "ahead"};

struct kernel {
    std::string name;
    std::map<std::string, int> is; /* the value of each parameter */
};
static kernel kernel_of(const launch &one)
{
    static const std::map<int, const char *> method = {{1, ""},           {8, "pivoted_"},
                                                       {16, "shared_"},   {64, "checked_"},
                                                       {192, "checked_"}, {768, "lu_"}}; /* trid_p_batch_how */
    std::string symbol = symbols[one.kernel], arguments = symbol.substr(symbol.find('<') + 1);
    kernel found = {symbol.substr(0, symbol.find('<')), {}};
    const size_t shape = arguments.find("trid_p_batch_shape<");
    const std::vector<std::string> &names = shape == std::string::npos ? parameters[found.name] : of_shape;
    size_t at = shape == std::string::npos ? arguments.find(',') : arguments.find('<', shape);
    for (const std::string &name : names) { /* the first argument is a type */
        found.is[name] = atoi(arguments.c_str() + at + 1);
        at = arguments.find(',', at + 1);
    }
    if (found.name == "contiguous")
        found.name = std::string(method.at(found.is["method"])) + (found.is["scope"] ? "block" : "lanes");
    if (found.name == "interleaved") {
        const std::string by = method.at(atoi(arguments.c_str() + arguments.find(',') + 1));
        if (by != "" && by != "pivoted_") found.name = by + found.name, found.is.erase("burst"); /* all rows at once */
    }
    return found;
}

static std::string format(const char *text, int value)
{
    char line[100];
    snprintf(line, sizeof line, text, value);
    return line;
}

/* Returns a kernel as "lanes  full        k 16": its name and its parameters, in the order of the template, without the
   precision. The number of systems a block depends on the precision: it goes to *own, and "@" stands for it. */
static std::string describe(const launch &one, std::string *own)
{
    static const char *const layout[] = {"  full      ", "  contiguous", "  strided   "};
    static const struct {
        const char *name, *text;
    } shown[] = {{"k", "  k %-2d"},
                 {"systems", "  systems @"},
                 {"parts", "  parts %-2d"},
                 {"burst", "  burst %d"},
                 {"ahead", "  ahead %-3d"}};
    kernel k = kernel_of(one);
    size_t cut = k.name.rfind("_reduce");
    std::string text = cut == std::string::npos ? k.name : k.name.substr(0, cut) + "_*";
    const bool alone = k.is.count("systems") && k.is["systems"] == 1; /* a warp solves a chunk */
    if (alone) k.is.erase("systems"), k.is.erase("parts");
    if (k.is.count("path") && !k.is.count("systems")) text += layout[k.is["path"]];
    if (k.is.count("layout")) text += layout[k.is["layout"]];
    for (auto &each : shown)
        if (k.is.count(each.name)) text += format(each.text, k.is[each.name]);
    if (k.is["scope"]) text += format("  %d warps", one.threads / 32);
    if (one.blocks > 1) text += all_sizes ? format("  c = %-2d", one.blocks) : "  clusters";
    if (k.is.count("systems")) *own = format("%d", k.is["systems"]);
    return text;
}

/* Returns what a call launched: one kernel, or those that reduce chunks and that for the last reduced system. Kernels
   that only report are not named, nor are those that expand the chunks again. */
static std::string describe(const std::vector<launch> &all, std::string *own)
{
    static const char *const times[] = {"", "once", "twice", "3 times", "4 times", "5 times", "6 times"};
    size_t levels = 0, trees = 0;
    for (const launch &one : all) {
        std::string name = kernel_of(one).name;
        levels += name == "long_reduce";
        trees += name == "pivoted_tree";
    }
    std::string text = describe(all[0], own);
    if (!all_sizes) return text;
    if (levels > 6 || trees > 11 || levels >= all.size()) return text + "  ?";
    if (levels) {
        kernel last = kernel_of(all[levels]);
        text += std::string("  ") + times[levels] + ", then " + last.name;
        if (last.is.count("parts")) text += format(" p = %d", last.is["parts"]);
    }
    return trees ? text + "  pivoted_tree " + times[(trees + 1) / 2] : text;
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

enum layout { CONTIGUOUS, STRIDED, INTERLEAVED, FEW_INTERLEAVED, WITHOUT_CLUSTERS };
enum operation { SOLVE, CHECKED, SHARED, PIVOTED };

static trid_lines lines_of(int layout, long long n)
{
    trid_lines lines = trid_lines_contiguous(n, 32); /* full tiles, whatever the width */
    if (layout == STRIDED) lines.stride = n + 1;
    return layout >= INTERLEAVED ? trid_lines_interleaved(n, layout == FEW_INTERLEAVED ? 8 : 256) : lines;
}

#define CALL(name, suffix) trid_batch_##name##_##suffix(l, at(0), at(1), at(2), at(3), at(4), &options, 0)
#define ASK(T, suffix)                                                                                                 \
    static int ask_##suffix(int operation, int layout, long long n)                                                    \
    {                                                                                                                  \
        trid_lines l = lines_of(layout, n);                                                                            \
        auto at = [](size_t k) { return (T *)((k + 1) << 44); }; /* nobody reads this */                               \
        trid_batch_options options = {};                                                                               \
        options.scratch = (void *)((size_t)6 << 44), options.scratch_bytes = 1ll << 62;                                \
        return operation == SOLVE     ? CALL(solve, suffix)                                                            \
               : operation == CHECKED ? CALL(checked, suffix)                                                          \
               : operation == SHARED  ? CALL(shared, suffix)                                                           \
                                      : CALL(pivoted, suffix);                                                          \
    }
ASK(float, f32)
ASK(double, f64)

/* Returns what a call launches. *own receives the part that depends on the precision. */
static std::string asked(int operation, int layout, long long n, int is_double, std::string *own)
{
    noted.clear();
    own->clear();
    simt_capability(layout == WITHOUT_CLUSTERS ? 8 : 9, 0);
    many_tiles = layout == FEW_INTERLEAVED ? 32 : 0;
    int status = is_double ? ask_f64(operation, layout, n) : ask_f32(operation, layout, n);
    if (status || noted.empty()) return "";
    static std::map<std::vector<launch>, std::pair<std::string, std::string>> known;
    auto at = known.find(noted);
    if (at == known.end()) {
        std::string text = describe(noted, own);
        at = known.insert({noted, {text, *own}}).first;
    }
    *own = at->second.second;
    return at->second.first;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

struct row {
    std::string kernel, own[2];
    std::vector<long long> from[2], to[2]; /* ranges of n, in single and double precision */
};

struct call {
    int operation, layout;
};

/* Returns what a call launches. If there is a call `but`: nothing where `but` launches the same; elsewhere, if by_name
   and without --all, only the kernel's name. */
static std::string where_differs(call of, long long n, const call *but, int by_name, int is_double, std::string *own)
{
    std::string other, kernel = asked(of.operation, of.layout, n, is_double, own);
    if (!but) return kernel;
    if (kernel == asked(but->operation, but->layout, n, is_double, &other) && *own == other) return "";
    if (all_sizes || !by_name) return kernel;
    own->clear();
    return kernel.substr(0, kernel.find(' '));
}

static long long largest()
{
    return all_sizes ? (long long)TRID_BATCH_MAX_N : 16384;
}

/* Adds a range of n to the row of a kernel. */
static void take(std::vector<row> *rows, const std::string &kernel, const std::string &own, long long from,
                 long long to, int is_double)
{
    if (kernel == "") return;
    row *place = NULL;
    for (row &r : *rows)
        if (r.kernel == kernel) place = &r;
    if (!place) {
        rows->push_back(row());
        place = &rows->back();
        place->kernel = kernel;
    }
    place->own[is_double] = own;
    place->from[is_double].push_back(from);
    place->to[is_double].push_back(to);
}

/* Asks for all n up to `each`, which is past the last n of most kernels, and beyond it for the powers of two. If two of
   these differ, finds one place between them where the kernel changes. */
static std::vector<row> table_of(call of, const call *but, int by_name)
{
    const long long each = 4200;
    std::vector<row> rows;
    for (int is_double = 0; is_double < 2; is_double++) {
        long long from = 1, to = 1;
        std::string own, kernel = where_differs(of, 1, but, by_name, is_double, &own);
        while (to < largest()) {
            long long same = to, next = to + 1;
            if (to > each)
                for (next = 1; next <= to; next *= 2) continue;
            std::string next_own, next_kernel = where_differs(of, next, but, by_name, is_double, &next_own), at_own;
            while (next_kernel != kernel && next - same > 1) {
                long long middle = same + (next - same) / 2;
                std::string at = where_differs(of, middle, but, by_name, is_double, &at_own);
                if (at == kernel)
                    same = middle;
                else
                    next = middle, next_kernel = at, next_own = at_own;
            }
            if (next_kernel != kernel) {
                take(&rows, kernel, own, from, next - 1, is_double);
                from = next;
                kernel = next_kernel;
                own = next_own;
            }
            to = next;
        }
        take(&rows, kernel, own, from, to, is_double);
    }
    return rows;
}

static std::string ranges(const row &r, int is_double)
{
    std::string all;
    for (size_t k = 0; k < r.from[is_double].size(); k++) {
        long long from = r.from[is_double][k], to = r.to[is_double][k];
        all +=
            (k ? " " : "") + std::to_string(from) + (to > from ? "-" + (to < largest() ? std::to_string(to) : "") : "");
    }
    return all;
}

/* Prints the text from a column on, behind the line's head, and continues it on further lines. */
static void print_line(std::string line, std::string text, size_t column)
{
    const size_t width = 117, least = 23;
    if (column > width - least) { /* a long head has a line of its own */
        printf("%s\n", line.c_str());
        line = "";
        column = 11;
    }
    line.resize(column ? column : line.size() + 1, ' ');
    while (line.size() + text.size() > width) { /* goes on below, where a range ends */
        size_t cut = text.rfind(' ', width - line.size());
        if (cut == std::string::npos) break;
        printf("%s%s\n", line.c_str(), text.substr(0, cut).c_str());
        text = text.substr(cut + 1);
        line = std::string(column ? column + 4 : 7, ' ');
    }
    printf("%s%s\n", line.c_str(), text.c_str());
}

/* Prints the table of a call, or only what differs from that of the call `but`: in rows, or by name on one line. */
static void print_table(const char *title, call of, const call *but, int by_name)
{
    std::vector<row> rows = table_of(of, but, by_name);
    std::vector<std::string> heads;
    size_t column = 0;
    for (row &r : rows) {
        std::string head = "       " + r.kernel;
        size_t at = head.find('@');
        if (at != std::string::npos) {
            std::string systems = r.own[0].empty() ? r.own[1] : r.own[0];
            if (!r.own[0].empty() && !r.own[1].empty() && r.own[0] != r.own[1]) systems += ", double " + r.own[1];
            systems.resize(systems.size() < 13 ? 13 : systems.size(), ' ');
            head.replace(at, 1, systems);
        }
        heads.push_back(head);
        column = column < head.size() + 2 ? head.size() + 2 : column;
    }
    if (by_name && !all_sizes) { /* on one line */
        std::string text;
        for (row &r : rows) {
            std::string n[2] = {ranges(r, 0), ranges(r, 1)};
            text += (text.empty() ? "" : ", ") + r.kernel;
            if (n[0] == n[1]) text += " " + n[0];
            if (n[0] != n[1] && !n[0].empty()) text += " single " + n[0];
            if (n[0] != n[1] && !n[1].empty()) text += " double " + n[1];
        }
        print_line("     " + std::string(title) + ":", text, 0);
        return;
    }
    printf("     %s\n", title);
    for (size_t k = 0; k < rows.size(); k++) {
        std::string n[2] = {ranges(rows[k], 0), ranges(rows[k], 1)};
        if (n[0] == n[1])
            print_line(heads[k], n[0], column);
        else
            for (int is_double = 0; is_double < 2; is_double++)
                if (!n[is_double].empty())
                    print_line(heads[k], (is_double ? "double " : "single ") + n[is_double], column);
    }
}

int main(int argc, char **argv)
{
    const call solve = {SOLVE, CONTIGUOUS}, pivoted = {PIVOTED, CONTIGUOUS}, interleaved = {SOLVE, INTERLEAVED};
    all_sizes = argc > 1 && !strcmp(argv[1], "--all");
    simt_multiprocessors(1); /* for which 256 systems are many */
    read_symbols(argv[0]);
    for (int room = 1; room < argc; room++)
        if (strstr(argv[room], ".h")) read_room(argv[room]);
    if (parameters.empty()) fprintf(stderr, "batch_table: no kernels\n"), exit(1);
    print_table("trid_batch_solve, contiguous, one system after another (batch/contiguous.h)", solve, NULL, 0);
    print_table("with another step or pitch", {SOLVE, STRIDED}, &solve, 1);
    print_table("trid_batch_solve, interleaved, where clusters fit (batch/interleaved.h)", interleaved, NULL, 0);
    print_table("few systems, where that differs", {SOLVE, FEW_INTERLEAVED}, &interleaved, 0);
    print_table("where no cluster fits, or the device has none", {SOLVE, WITHOUT_CLUSTERS}, &interleaved, 0);
    print_table("trid_batch_checked, contiguous (the same)", {CHECKED, CONTIGUOUS}, &solve, 1);
    print_table("trid_batch_checked, interleaved", {CHECKED, INTERLEAVED}, &interleaved, 1);
    print_table("trid_batch_shared, contiguous (the same)", {SHARED, CONTIGUOUS}, &solve, 1);
    print_table("trid_batch_shared, interleaved", {SHARED, INTERLEAVED}, &interleaved, 1);
    print_table("trid_batch_pivoted, contiguous, one system after another (the same)", pivoted, NULL, 0);
    print_table("with another step or pitch", {PIVOTED, STRIDED}, &pivoted, 1);
    print_table("interleaved", {PIVOTED, INTERLEAVED}, &pivoted, 1);
    return 0;
}
