/* Fuzzes the compiled kernel: any bytes, split as lines, read as JSON's objects, or taken for columns
   whose offsets, codes and sizes may be anything, with allocations that fail. All memory is exactly as
   long as it is said to be, so that a sanitizer sees the first byte too many. clang makes a libFuzzer
   target of this file; with -DALONE it has a driver of its own: SECONDS to go on for, and files to run
   first. */
#include <math.h>
#include <stdlib.h>

static int allocations_left;   /* before one fails; negative: none does */
static void *allocate(size_t size) { return allocations_left-- ? malloc(size) : NULL; }
static void *allocate_zeros(size_t count, size_t size) { return allocations_left-- ? calloc(count, size) : NULL; }
#define malloc allocate
#define calloc allocate_zeros
#include "../src/germane/kernel/reduce.c"
#undef malloc
#undef calloc

#define REQUIRE(condition) do { if (!(condition)) abort(); } while (0)

static const uint8_t *input, *input_end;
static void *kept[64];
static int keeping;

static uint8_t take(void) { return input < input_end ? *input++ : 0; }

static void *make(int64_t size) {
    REQUIRE(keeping < 64);
    return kept[keeping++] = malloc(size ? (size_t)size : 1);
}

/* A small number, mostly; or one at a border. */
static int64_t take_number(void) {
    static const int64_t odd[] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 1ll << 32, -1, 255, 4096};
    uint8_t byte = take();
    return byte < 248 ? byte % 16 : odd[byte - 248];
}

static int64_t *take_numbers(int64_t count) {
    int64_t *numbers = make(8 * count);
    for (int64_t i = 0; i < count; i++) numbers[i] = take_number();
    return numbers;
}

/* Offsets that rise, mostly. */
static int64_t *take_offsets(int64_t count, int64_t last) {
    int64_t *offsets = make(8 * (count + 1)), at = 0;
    for (int64_t i = 0; i <= count; i++) {
        offsets[i] = at;
        int64_t more = take_number();
        at = more > 15 || more < 0 ? more : at > last - more || i + 1 == count ? last : at + more;
    }
    return offsets;
}

static uint8_t *take_text(int64_t size) {
    uint8_t *text = make(size);
    for (int64_t i = 0; i < size; i++) text[i] = take();
    return text;
}

static double take_score(void) {
    static const double odd[] = {0, -0., DBL_MAX, -DBL_MAX, DBL_MIN, 1e-320, 0.1, 1e300};
    uint8_t byte = take();
    return byte == 255 ? (double)NAN : byte == 254 ? -(double)INFINITY : byte > 245 ? odd[byte % 8] : byte % 32 / 4.;
}

static Column *take_column(int64_t length, int entries) {
    Column *column = make(sizeof *column);
    uint8_t kind = take() % (entries ? 4 : 1);
    *column = (Column){.kind = kind, .length = length, .text_size = take() % 64};
    int64_t *numbers = take_numbers(length + 1);
    int32_t *narrow = make(4 * (length + 1)), *sizes = make(4 * length);
    for (int64_t i = 0; i <= length; i++) narrow[i] = (int32_t)numbers[i];
    for (int64_t i = 0; i < length; i++) sizes[i] = (int32_t)take_number();
    column->sizes = sizes;
    column->rows = kind == CODES ? (const void *)narrow : (const void *)numbers;
    if (kind == CODES) column->entries = take() % 4 ? take_column(take() % 16, 0) : NULL;
    if (kind == CODES && !column->entries && take() % 2) {
        int32_t *meant = make(4 * column->text_size);
        for (int64_t i = 0; i < column->text_size; i++) meant[i] = (int32_t)take_number();
        column->meant = meant;
    }
    else if (kind == SPANS) column->text = take_text(column->text_size);
    return column;
}

static void check_hits(const Reduction *given) {
    REQUIRE(given->hits >= 0 && given->hits <= given->capacity);
    for (int64_t i = 0; i < given->hits; i++) {
        int64_t group = given->group[i], query = given->queries[group], row = given->hit_row[i];
        REQUIRE(row >= given->offsets[group] && row < given->offsets[group + 1]);
        REQUIRE(given->judgment[i] >= given->judged_offsets[query] && given->judgment[i] < given->judged_offsets[query + 1]);
        REQUIRE(1 <= given->tied_from[i] && given->tied_from[i] <= given->rank[i] && given->rank[i] <= given->tied_to[i]);
        REQUIRE(given->tied_to[i] <= given->offsets[group + 1] - given->offsets[group]);
        REQUIRE(!i || given->group[i - 1] < group || (given->group[i - 1] == group && given->rank[i - 1] <= given->rank[i]));
    }
}

static void reduce_some(const Column *items, const double *scores, int64_t groups, const int64_t *offsets) {
    int64_t judged_queries = 1 + take() % 4, judged_rows = take() % 24;
    Reduction given = {
        .items = items, .scores = scores, .offsets = offsets, .groups = groups, .seed = {1, 2},
        .queries = take_numbers(groups), .judged = take_column(judged_rows, 1), .judged_queries = judged_queries,
        .judged_offsets = take_offsets(judged_queries, judged_rows),
        .by_place = take() % 2, .keep_repeats = take() % 2, .capacity = take() % 64,
    };
    for (int64_t g = 0; g < groups; g++)   /* most are queries that are judged */
        if (given.queries[g] > 3 && given.queries[g] < 16) ((int64_t *)given.queries)[g] %= judged_queries;
    int64_t **results[] = {&given.hit_row, &given.judgment, &given.group, &given.rank, &given.tied_from, &given.tied_to};
    for (int i = 0; i < 6; i++) *results[i] = make(8 * given.capacity);
    int status = reduce_rows(&given);
    if (status == FULL) {   /* says how many there are, and there is room for these */
        REQUIRE(given.hits > given.capacity && given.hits < 1 << 20);
        given.capacity = given.hits;
        for (int i = 0; i < 6; i++) *results[i] = make(8 * given.capacity);
        status = reduce_rows(&given);
        REQUIRE(status == OK || status == NO_MEMORY);
    }
    if (status == OK) check_hits(&given);
}

static void fuzz_lines(void) {
    static const int64_t layouts[3][3] = {{6, 2, 4}, {4, 2, 3}, {1, 0, 0}};
    const int64_t *layout = layouts[take() % 3];
    int64_t capacity = take(), failing = take() % 4;
    Lines lines = {
        .fields = layout[0], .item = layout[1], .number = layout[2], .more = take() % 2,
        .largest = take() % 2 ? DBL_MAX : 9007199254740992., .capacity = capacity, .read = take() % 4 ? 0 : take(),
        .starts = make(8 * capacity), .sizes = make(4 * capacity), .numbers = make(8 * capacity),
        .stretches = make(8 * (capacity + 1)), .query_starts = make(8 * capacity), .query_sizes = make(4 * capacity),
    };
    const uint8_t *after = input + (input_end - input < 24 ? input_end - input : 24);
    lines.size = input_end - after;
    uint8_t *text = make(lines.size);
    if (lines.size) memcpy(text, after, (size_t)lines.size);
    lines.text = text;
    int64_t start = lines.read;
    int status = split_lines(&lines);
    if (status == BROKEN) return;
    REQUIRE(lines.rows <= capacity && lines.read >= start && lines.read <= lines.size);
    REQUIRE(status != OK || lines.read == lines.size);
    for (int64_t i = 0; i < lines.rows; i++) {
        REQUIRE(lines.starts[i] >= start && lines.sizes[i] > 0 && lines.starts[i] + lines.sizes[i] <= lines.read);
        REQUIRE(lines.numbers[i] >= -lines.largest && lines.numbers[i] <= lines.largest);
    }
    Column items = {.kind = SPANS, .length = lines.rows, .rows = lines.starts, .sizes = lines.sizes, .text = text, .text_size = lines.size};
    lines.stretches[lines.stretch_count] = lines.rows;
    allocations_left = (int)failing - 1;
    reduce_some(&items, lines.numbers, lines.stretch_count, lines.stretches);
}

static void fuzz_objects(void) {
    int64_t key_sizes[3], widths[3], bytes = 0, width = 0, count = take() % 4;
    for (int64_t k = 0; k < count; k++) {
        key_sizes[k] = 1 + take() % 2, widths[k] = 1 + take() % 4;
        bytes += key_sizes[k], width += widths[k];
        if (take() > 250) widths[k] = take_number();
    }
    uint8_t *keys = make(bytes);
    if (bytes) memcpy(keys, "abcdef", (size_t)bytes);
    int64_t capacity = take() % 64;
    Objects objects = {
        .keys = keys, .keys_size = bytes, .key_sizes = key_sizes, .widths = widths, .key_count = count, .width = width,
        .capacity = capacity, .numbers = make(8 * capacity * width), .size = input_end - input,
    };
    uint8_t *text = make(objects.size);
    if (objects.size) memcpy(text, input, (size_t)objects.size);
    objects.text = text;
    int status = read_objects(&objects);
    if (status == BROKEN) return;
    REQUIRE(objects.rows >= 0 && objects.rows <= capacity && (status == OK || status == FULL || status == STOPPED));
    for (int64_t column = 0; column < width; column++)
        for (int64_t i = 0; i < objects.rows; i++) REQUIRE(isfinite(objects.numbers[column * capacity + i]));
}

static void fuzz_columns(void) {
    int64_t length = take() % 64, groups = take() % 5, count;
    allocations_left = take() % 8 - 1;
    const Column *column = take_column(length, 1);
    int64_t *starts = make(8 * 16), *found = make(8 * length);
    REQUIRE(find_changes(column, starts, 16, &count) != FULL || count == 16);
    double *scores = make(8 * length);
    for (int64_t i = 0; i < length; i++) scores[i] = take_score();
    const int64_t *offsets = take_offsets(groups, length);
    uint64_t *queries = make(16 * groups);
    memset(queries, 1, (size_t)(16 * groups));
    Content content = {.items = column, .numbers = scores, .offsets = offsets, .queries = queries, .groups = groups};
    hash_rows(&content);
    uint64_t seed[2] = {3, 4};
    uint64_t *slots = make(8 * (int64_t)count_slots(length));
    const Column *among = take_column(length, 1);
    if (index_rows(among, seed, slots, (int64_t)count_slots(length), &count) == OK && length) find_rows(among, seed, slots, column, found);
    reduce_some(column, take() % 4 ? scores : NULL, groups, offsets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input = data, input_end = data + size, allocations_left = -1;
    uint8_t kind = take() % 4;
    if (kind == 2) fuzz_objects();
    else if (kind % 2) fuzz_lines();
    else fuzz_columns();
    while (keeping) free(kept[--keeping]);
    return 0;
}

#ifdef ALONE
#include <sanitizer/common_interface_defs.h>
#include <stdio.h>
#include <time.h>
static uint8_t data[1 << 16];
static size_t length;
static uint64_t state = 88172645463325252ull;

static uint32_t roll(uint32_t sides) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 33) % sides;
}

static void keep_input(void) {
    FILE *file = fopen("crash-input", "wb");
    if (file) fwrite(data, 1, length, file), fclose(file);
}

static void add(const void *bytes, size_t size) {
    if (length + size <= sizeof data) memcpy(data + length, bytes, size), length += size;
}

static void make_lines(void) {
    static const char *const parts[] = {
        "q1", "q2", " ", "  ", "\t", "\n", "\r\n", "a", "b", "cd", "0", "-", ".", "e9", "e-30", "nan", "#", "\xc3\xa9", "\v",
        "1234567890123456789", ".30000000000000004", "\nq1 Q0 a 1 2.5 x", "\nq1 Q0 b 1 2.5 x", "\nq2 Q0 a 1 3 x", "\nq3\tQ0\tab 1 3 x",
        "\nq1 0 a 1", "\nq1 0 b 0", "\nq2 Q0 an-item-with-a-longer-id 7 .5 x y",
    };
    for (uint32_t left = roll(120); left--;) {
        const char *part = parts[roll(3) ? 21 + roll(7) : roll(28)];
        add(part, strlen(part));
        if (!roll(400)) for (uint32_t i = roll(6000); i--;) add(roll(2) ? " " : "\t", 1);
    }
}

static void make_objects(void) {
    static const char *const parts[] = {
        "[", "{", "}", "]", ",", ":", "\"a\"", "\"bc\"", "\"x", "\\", "1", "-0.5e3", "01", "1e999", "true", "nul", " ", "\n", "\xc3\xa9",
        "[1,2]", "\"x\":{\"y\":[null]}", "{\"a\":1}", ",{\"a\":2.5}", "{\"ab\":[1,2],\"c\":3}", ",{\"c\":-1,\"ab\":[3,4]}",
    };
    /* keys a, of one number, or ab, of two, and c, of one; room for some rows */
    static const uint8_t layouts[2][8] = {{2, 1, 0, 0, 0, 9, 0, 0}, {2, 2, 1, 1, 0, 0, 0, 0}};
    const uint8_t *layout = layouts[roll(2)];
    length = 0;
    add(layout, layout[1] == 1 ? 6 : 8);
    if (layout[1] == 2) data[length++] = (uint8_t)roll(9);
    if (roll(4)) add("[", 1);
    for (uint32_t left = roll(30); left--;) {
        const char *part = parts[roll(3) ? 21 + roll(4) : roll(25)];
        add(part, strlen(part));
    }
    if (roll(3)) add("]", 1);
}

int main(int argc, char **argv) {
    uint64_t tries = 0;
    __sanitizer_set_death_callback(keep_input);
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) continue;
        length = fread(data, 1, sizeof data, file);
        fclose(file);
        LLVMFuzzerTestOneInput(data, length);
    }
    if (argc > 2 && !atoi(argv[1])) return 0;
    for (time_t stop = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10); time(NULL) < stop; tries++) {
        uint32_t lines = roll(2), size = roll(lines ? 40 : 700), calm = roll(3) ? 200 : 256;
        length = 0;
        data[length++] = (uint8_t)lines;
        if (lines && roll(4)) size = 33;
        for (uint32_t i = 0; i < size; i++) data[length++] = (uint8_t)roll(calm);
        if (lines && roll(2)) data[2] = 255;   /* room for all rows */
        if (lines) make_lines();
        if (!roll(4)) make_objects();
        if (!roll(3)) data[roll((uint32_t)length)] = (uint8_t)roll(256);
        LLVMFuzzerTestOneInput(data, length);
    }
    printf("kernel: nothing found in %llu inputs\n", (unsigned long long)tries);
}
#endif
