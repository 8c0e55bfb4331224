/* Reduces ranked lists to the ranks of their judged items, and reads lines and lists of numbers.

   Plain C11 for gcc and clang on machines of 64 bits. No function keeps state, so any number of
   threads may call. Each returns a status. Every length is checked before the memory behind it is
   read, and every result has a capacity. Text is any bytes. An id is hashed, and a table of ids is
   at most half full, so that time is linear in the rows, except for n log m if m of n rows with one
   score are judged. Measures, policies and messages are in Python. */
#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { OK, NO_MEMORY, FULL, STOPPED, REPEATED, NOT_FINITE, BROKEN };
enum { SPANS, INT64, UINT64, CODES };

/* A column of ids. `rows` points to starts, integers or codes. */
typedef struct Column {
    int64_t kind, length;
    const void *rows;
    const int32_t *sizes;              /* SPANS: bytes of each row */
    const uint8_t *text;               /* SPANS */
    int64_t text_size;                 /* bytes; CODES without entries: the number of entries, or 0 */
    const struct Column *entries;      /* CODES: distinct texts; or NULL to match by code, of which -1 matches none */
    const int32_t *meant;              /* CODES without entries: the code that each one stands for, or NULL */
} Column;

/* A text; or, if `at` is NULL, an integer in `size`. */
typedef struct { const uint8_t *at; uint64_t size; } Key;

/* --- Bytes ----------------------------------------------------------------------------------- */

static uint64_t load64(const uint8_t *at) { uint64_t word; return memcpy(&word, at, 8), word; }
static uint32_t load32(const uint8_t *at) { uint32_t word; return memcpy(&word, at, 4), word; }

/* Multiplies, and mixes both halves of the product. */
static uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Without the seed, nobody can make ids that collide. */
static uint64_t hash_key(Key key, const uint64_t *seed) {
    if (!key.at) return fold(key.size ^ seed[0], seed[1] | 1);
    const uint8_t *at = key.at;
    uint64_t size = key.size, hash = seed[1] ^ size, a = 0, b = 0;
    for (; size > 16; at += 16, size -= 16) hash = fold(load64(at) ^ seed[0], load64(at + 8) ^ hash);
    if (size >= 8) a = load64(at), b = load64(at + size - 8);
    else if (size >= 4) a = load32(at), b = load32(at + size - 4);
    else if (size) a = at[0] | (uint64_t)at[size / 2] << 8 | (uint64_t)at[size - 1] << 16;
    return fold(a ^ seed[0], b ^ hash);
}

static int is_within(int64_t from, int64_t to, int64_t length) {
    return 0 <= from && from <= to && to <= length;
}

/* --- Columns --------------------------------------------------------------------------------- */

static int is_integer(const Column *column) {
    return column->kind == INT64 || column->kind == UINT64 || (column->kind == CODES && !column->entries);
}

/* The id of a row. An id that lies outside of its data is empty, and sets `broken`. */
static inline Key key_at(const Column *column, int64_t row, int *broken) {
    static const uint8_t nothing[1];
    int64_t text_size = column->text_size, start, size;
    switch (column->kind) {
    case SPANS:
        start = ((const int64_t *)column->rows)[row], size = column->sizes[row];
        break;
    case CODES:
        start = ((const int32_t *)column->rows)[row];
        if ((text_size || column->meant) && (start < 0 || start >= text_size)) *broken = 1, start = -1;
        if (!column->entries) return (Key){NULL, (uint64_t)(column->meant && start >= 0 ? column->meant[start] : start)};
        if (start >= 0 && start < column->entries->length) return key_at(column->entries, start, broken);
        size = -1;
        break;
    default:
        return (Key){NULL, ((const uint64_t *)column->rows)[row]};
    }
    if (start < 0 || size < 0 || size > text_size || start > text_size - size) *broken = 1, size = 0;
    return size ? (Key){column->text + start, (uint64_t)size} : (Key){nothing, 0};
}

static int is_same_key(Key a, Key b) { return a.size == b.size && (!a.at || !memcmp(a.at, b.at, a.size)); }

/* Writes an integer as decimal text to the end of 21 bytes. */
static Key key_of_decimal(uint64_t number, int negative, uint8_t *digits) {
    uint8_t *at = digits + 21;
    if (negative) number = -number;
    do *--at = (uint8_t)('0' + number % 10); while (number /= 10);
    if (negative) *--at = '-';
    return (Key){at, (uint64_t)(digits + 21 - at)};
}

/* Compares the ids of two rows by bytes, as memcmp does. */
static int compare_ids(const Column *column, int64_t row, int64_t other, int *broken) {
    uint8_t digits[2][21];
    Key a = key_at(column, row, broken), b = key_at(column, other, broken);
    if (!a.at) {
        a = key_of_decimal(a.size, column->kind != UINT64 && (int64_t)a.size < 0, digits[0]);
        b = key_of_decimal(b.size, column->kind != UINT64 && (int64_t)b.size < 0, digits[1]);
    }
    int order = memcmp(a.at, b.at, a.size < b.size ? a.size : b.size);
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Finds the rows whose id differs from that of the row before; row 0 is one of them. */
int find_changes(const Column *column, int64_t *starts, int64_t capacity, int64_t *count) {
    int broken = 0;
    Key before = {NULL, 0};
    *count = 0;
    for (int64_t row = 0; row < column->length; row++) {
        Key key = key_at(column, row, &broken);
        if (broken) return BROKEN;
        if (row && is_same_key(key, before)) continue;
        if (*count == capacity) return FULL;
        starts[(*count)++] = row;
        before = key;
    }
    return OK;
}

/* --- A hash table of the rows of a column ---------------------------------------------------- */

/* A slot is 0, or the upper half of a hash and a row, counted from 1. At least half of the slots are 0. */
typedef struct {
    const Column *column;
    int64_t first;                     /* the row that is counted 1 */
    uint64_t *slots, mask;
    const uint64_t *seed;
    int *broken;
} Table;

static uint64_t count_slots(int64_t rows) {
    uint64_t slots = 8;
    while (slots < 2 * (uint64_t)rows) slots *= 2;
    return slots;
}

static void clear_table(Table *table, const Column *column, int64_t first, int64_t rows) {
    table->column = column, table->first = first, table->mask = count_slots(rows) - 1;
    memset(table->slots, 0, (table->mask + 1) * sizeof *table->slots);
}

/* Returns the row with this key; else adds the row `added`, unless it is -1, and returns -1. */
static inline int64_t find_key(Table *table, Key key, int64_t added) {
    uint64_t hash = hash_key(key, table->seed), at = hash & table->mask, slot;
    for (; (slot = table->slots[at]); at = (at + 1) & table->mask) {
        int64_t row = table->first + (int64_t)(slot & UINT32_MAX) - 1;
        if ((slot ^ hash) >> 32 == 0 && is_same_key(key, key_at(table->column, row, table->broken))) return row;
    }
    if (added >= 0) table->slots[at] = (hash >> 32 << 32) | (uint64_t)(added - table->first + 1);
    return -1;
}

/* Adds a row of the table's column, and returns -1; or returns the row of the table with its id. */
static inline int64_t add_row(Table *table, int64_t row) {
    return find_key(table, key_at(table->column, row, table->broken), row);
}

/* Finds the row of the table with the id of a row of another column, or -1. */
static inline int64_t find_row(Table *table, const Column *column, int64_t row) {
    Key key = key_at(column, row, table->broken);
    /* 2^64 - 1 and -1 have the same bits; the code -1 is no item */
    int differs = column->kind != table->column->kind || column->kind == CODES;
    return !key.at && differs && (int64_t)key.size < 0 ? -1 : find_key(table, key, -1);
}

static int is_matchable(const Column *a, const Column *b) {
    int coded = (a->kind == CODES) + (b->kind == CODES);
    return is_integer(a) ? is_integer(b) && coded != 1 : !is_integer(b);
}

/* Makes a table of a column's rows, which several threads may look up, and counts the distinct ids. */
int index_rows(const Column *among, const uint64_t *seed, uint64_t *slots, int64_t capacity, int64_t *distinct) {
    int broken = 0;
    Table table = {.slots = slots, .seed = seed, .broken = &broken};
    *distinct = 0;
    if (among->length >= UINT32_MAX || capacity != (int64_t)count_slots(among->length)) return BROKEN;
    clear_table(&table, among, 0, among->length);
    for (int64_t row = 0; row < among->length; row++) *distinct += add_row(&table, row) < 0;
    return broken ? BROKEN : OK;
}

/* Finds for each row of `wanted` the first row of an indexed column with its id, or -1. */
int find_rows(const Column *among, const uint64_t *seed, uint64_t *slots, const Column *wanted, int64_t *found) {
    int broken = 0;
    Table table = {among, 0, slots, count_slots(among->length) - 1, seed, &broken};
    if (!is_matchable(among, wanted)) return BROKEN;
    for (int64_t row = 0; row < wanted->length; row++) found[row] = find_row(&table, wanted, row);
    return broken ? BROKEN : OK;
}

/* --- Integers of a small range --------------------------------------------------------------- */

/* Each integer has a place for the last row that has it, counted from 1. Rows are added in their order.
   A row below the group's first is of an earlier group, so that nothing needs to be cleared. */
typedef struct { uint32_t *rows; uint64_t least, range; } Places;

/* Finds the range of the integers; it stays 0 if it is so large that a hash table is smaller. */
static void measure_range(const Column *keys, Places *places) {
    uint64_t sign = keys->kind == UINT64 ? 0 : 1ull << 63, least = UINT64_MAX, most = 0;
    if (!is_integer(keys) || !keys->length || keys->length >= UINT32_MAX) return;
    if (keys->kind == CODES) {
        least = sign, most = sign + (uint64_t)keys->text_size - 1;
    } else for (int64_t row = 0; row < keys->length; row++) {
        uint64_t key = ((const uint64_t *)keys->rows)[row] ^ sign;   /* in the order of the integers */
        least = key < least ? key : least, most = key > most ? key : most;
    }
    places->least = least ^ sign;
    if (most - least < 4 * (uint64_t)keys->length) places->range = most - least + 1;
}

/* Finds the place of an integer, or NULL if it is outside of the range. */
static inline uint32_t *find_place(const Places *places, uint64_t key) {
    return key - places->least < places->range ? places->rows + (key - places->least) : NULL;
}

/* --- Ranks ----------------------------------------------------------------------------------- */

/* A judged row. Of hits with the same score, the first has `higher` and `equal` for all. */
typedef struct {
    double score;
    int64_t row, judgment, start;      /* start: the first hit with this score */
    int64_t higher, equal;             /* rows with a higher score, and with this one */
    int64_t before;                    /* equal rows between the hit before and this one */
} Hit;

/* The order of equal scores: by falling id if there is a column, then by row. */
typedef struct { const Column *column; int *broken; } Ties;

static int stands_before(double score, int64_t row, const Hit *hit, const Ties *ties) {
    if (score != hit->score) return score > hit->score;
    int order = ties->column && row != hit->row ? compare_ids(ties->column, row, hit->row, ties->broken) : 0;
    return order ? order > 0 : row < hit->row;
}

/* Sorts hits into the order of ranks, by merging. */
static void sort_hits(Hit *hits, Hit *spare, int64_t count, const Ties *ties) {
    Hit *from = hits, *to = spare;
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t start = 0; start < count; start += 2 * width) {
            int64_t middle = start + width < count ? start + width : count;
            int64_t stop = middle + width < count ? middle + width : count;
            for (int64_t at = start, a = start, b = middle; at < stop; at++) {
                const Hit *hit = &from[b];
                int second = b < stop && (a == middle || stands_before(hit->score, hit->row, &from[a], ties));
                to[at] = from[second ? b++ : a++];
            }
        }
        Hit *swap = from;
        from = to, to = swap;
    }
    if (from != hits) memcpy(hits, from, (size_t)count * sizeof *hits);
    for (int64_t i = 0; i < count; i++) {
        hits[i].start = i && hits[i - 1].score == hits[i].score ? hits[i - 1].start : i;
        hits[i].higher = hits[i].equal = hits[i].before = 0;
    }
}

/* Finds the first of the hits with a row's score that the row stands before, and counts the row there. */
static void place_row(Hit *hits, int64_t low, int64_t high, double score, int64_t row, const Ties *ties) {
    int64_t stop = high;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (stands_before(score, row, &hits[middle], ties)) high = middle;
        else low = middle + 1;
    }
    if (low < stop) hits[low].before++;
}

/* Counts the falling scores that are above one; or, with `equal`, at least as high. */
static int64_t count_above(const double *scores, int64_t count, double score, int equal) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (equal ? scores[middle] >= score : scores[middle] > score) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void rank_falling(const double *scores, int64_t first, int64_t rows, Hit *hits, int64_t count, const Ties *ties) {
    scores += first;
    for (int64_t start = 0, stop; start < count; start = stop) {
        double score = hits[start].score;
        for (stop = start + 1; stop < count && hits[stop].score == score;) stop++;
        int64_t from = hits[start].row - first, to = from + 1;
        if ((from && scores[from - 1] == score) || (to < rows && scores[to] == score)) {
            from = count_above(scores, rows, score, 0), to = count_above(scores, rows, score, 1);
            for (int64_t row = from; row < to; row++) place_row(hits, start, stop, score, first + row, ties);
        }
        hits[start].higher = from, hits[start].equal = to - from;
    }
}

enum { MOST_BUCKETS = 1 << 12 };

/* Looks each score up among those of the hits: by a table of buckets, then by bisection of its bucket. */
static void rank_any(const double *scores, int64_t first, int64_t rows, Hit *hits, int64_t count, const Ties *ties) {
    uint32_t ends[MOST_BUCKETS + 1], last = 63;   /* bucket b has the hits ends[b + 1] to ends[b] */
    while (last < MOST_BUCKETS - 1 && last < 8 * count) last = 2 * last + 1;
    double low = hits[count - 1].score, high = hits[0].score, scale = last / (high - low);
    if (!(high - low <= DBL_MAX && scale <= DBL_MAX)) scale = 0;
    memset(ends, 0, (last + 2) * sizeof *ends);
    for (int64_t i = 0; i < count; i++)
        ends[scale > 0 ? (uint32_t)((hits[i].score - low) * scale) : 0] = (uint32_t)(i + 1);
    for (uint32_t b = last + 1; b--;) if (!ends[b]) ends[b] = ends[b + 1];
    for (int64_t row = first; row < first + rows; row++) {
        double score = scores[row];
        if (!(score >= low)) continue;   /* NaN is not higher either */
        uint32_t bucket = score > high ? last + 1 : scale > 0 ? (uint32_t)((score - low) * scale) : 0;
        int64_t from = bucket > last ? 0 : ends[bucket + 1], to = ends[bucket];
        while (from < to) {   /* how many hits have at least this score? */
            int64_t middle = from + (to - from) / 2;
            if (hits[middle].score >= score) from = middle + 1;
            else to = middle;
        }
        if (from && hits[from - 1].score == score) {
            hits[hits[from - 1].start].equal++;
            place_row(hits, hits[from - 1].start, from, score, row, ties);
        } else if (from < count) hits[from].higher++;
    }
    for (int64_t i = 0, higher = 0; i < count; i++) {
        hits[i].higher = higher += hits[i].higher;
        higher += hits[i].equal;
    }
}

/* A batch of whole queries: group g has the rows from offsets[g] to offsets[g + 1], and is query
   queries[g] of the judgments, or -1 where nobody judged it. */
typedef struct {
    const Column *items, *judged;
    const double *scores;              /* or NULL: the rows are in the order of their ranks */
    const int64_t *offsets, *queries;
    int64_t groups;
    const int64_t *judged_offsets;
    int64_t judged_queries, by_place, keep_repeats;
    uint64_t seed[2];
    int64_t capacity, *hit_row, *judgment, *group, *rank, *tied_from, *tied_to;
    int64_t hits, row, other;          /* the number of hits, and the rows of an error */
} Reduction;

/* Memory for the largest group. */
typedef struct {
    Column keys;                       /* the items, as they are matched */
    Table table;
    Places places;                     /* used instead of the table if there is a range */
    Hit *hits, *spare;
    int64_t most_rows, most_judged;
    int broken;
} Work;

/* Matches the rows of a group with its judgments, if the items are integers that have places. */
static int match_integers(Reduction *given, Work *work, int64_t group, int64_t *count) {
    int64_t first = given->offsets[group], stop = given->offsets[group + 1], query = given->queries[group];
    int differs = given->judged->kind != work->keys.kind;   /* 2^64 - 1 and -1 have the same bits */
    for (int64_t row = first; row < stop; row++) {
        uint32_t *place = find_place(&work->places, key_at(&work->keys, row, &work->broken).size);
        if (!place) continue;   /* a code that is broken */
        if (*place > first) {
            given->row = row, given->other = (int64_t)*place - 1;
            return REPEATED;
        }
        *place = (uint32_t)(row + 1);
    }
    for (int64_t j = given->judged_offsets[query]; j < given->judged_offsets[query + 1]; j++) {
        uint64_t key = key_at(given->judged, j, &work->broken).size;
        uint32_t *place = differs && (int64_t)key < 0 ? NULL : find_place(&work->places, key);
        if (place && *place > first) work->hits[(*count)++] = (Hit){.judgment = j, .row = (int64_t)*place - 1};
    }
    return OK;
}

/* Matches the rows of a group with its judgments; with `keep_repeats` every copy of an item is a hit. */
static int match_items(Reduction *given, Work *work, int64_t group, int64_t *count) {
    int64_t first = given->offsets[group], stop = given->offsets[group + 1], query = given->queries[group];
    int64_t from = given->judged_offsets[query], to = given->judged_offsets[query + 1], found;
    *count = 0;
    if (given->keep_repeats) {
        clear_table(&work->table, given->judged, from, to - from);
        for (int64_t j = from; j < to; j++) add_row(&work->table, j);
        for (int64_t row = first; row < stop; row++)
            if ((found = find_row(&work->table, &work->keys, row)) >= 0)
                work->hits[(*count)++] = (Hit){.judgment = found, .row = row};
        return OK;
    }
    if (work->places.range) return match_integers(given, work, group, count);
    clear_table(&work->table, &work->keys, first, stop - first);
    for (int64_t row = first; row < stop; row++)
        if ((found = add_row(&work->table, row)) >= 0) {
            given->row = row, given->other = found;
            return REPEATED;
        }
    for (int64_t j = from; j < to; j++)
        if ((found = find_row(&work->table, given->judged, j)) >= 0)
            work->hits[(*count)++] = (Hit){.judgment = j, .row = found};
    return OK;
}

/* Sorts the hits of a group into the order of their ranks, and counts the rows before them. */
static int rank_hits(Reduction *given, Work *work, int64_t group, int64_t count) {
    int64_t first = given->offsets[group], stop = given->offsets[group + 1];
    Ties ties = {given->by_place || !given->scores ? NULL : given->items, &work->broken};
    int falls = 1;
    for (int64_t row = first; given->scores && row < stop; row++) {
        if (!(given->scores[row] - given->scores[row] == 0)) return given->row = row, NOT_FINITE;
        falls &= row == first || given->scores[row] <= given->scores[row - 1];
    }
    for (int64_t i = 0; given->scores && i < count; i++) work->hits[i].score = given->scores[work->hits[i].row];
    sort_hits(work->hits, work->spare, count, &ties);
    if (!count || !given->scores) return OK;
    if (falls) rank_falling(given->scores, first, stop - first, work->hits, count, &ties);
    else rank_any(given->scores, first, stop - first, work->hits, count, &ties);
    return OK;
}

/* Appends the hits of a group to the results; beyond their capacity, only counts them. */
static void write_hits(Reduction *given, const Work *work, int64_t group, int64_t count) {
    if (count > given->capacity - given->hits) {
        given->hits += count;
        return;
    }
    for (int64_t i = 0, place = 0; i < count; i++) {
        const Hit *hit = &work->hits[i], *tie = &work->hits[hit->start];
        int64_t at = given->hits++, rank = hit->row - given->offsets[group] + 1;
        place = hit == tie ? hit->before : place + hit->before;
        given->hit_row[at] = hit->row, given->judgment[at] = hit->judgment, given->group[at] = group;
        given->rank[at] = given->scores ? 1 + tie->higher + place : rank;
        given->tied_from[at] = given->scores ? 1 + tie->higher : rank;
        given->tied_to[at] = given->scores ? tie->higher + tie->equal : rank;
    }
}

/* Checks the offsets of a batch, and finds the largest group. A slot holds rows up to UINT32_MAX - 1. */
static int measure_groups(const Reduction *given, Work *work) {
    for (int64_t g = 0; g < given->groups; g++) {
        const int64_t *ends = given->offsets + g, *judged;
        if (!is_within(ends[0], ends[1], given->items->length)) return 0;
        if (given->queries[g] < 0) continue;
        if (given->queries[g] >= given->judged_queries) return 0;
        judged = given->judged_offsets + given->queries[g];
        if (!is_within(judged[0], judged[1], given->judged->length)) return 0;
        if (ends[1] - ends[0] >= UINT32_MAX || judged[1] - judged[0] >= UINT32_MAX) return 0;
        if (ends[1] - ends[0] > work->most_rows) work->most_rows = ends[1] - ends[0];
        if (judged[1] - judged[0] > work->most_judged) work->most_judged = judged[1] - judged[0];
    }
    return 1;
}

int reduce_rows(Reduction *given) {
    Work work = {.keys = *given->items, .table = {.seed = given->seed, .broken = &work.broken}};
    int64_t most_rows, most_hits, count;
    given->hits = 0;
    if (is_integer(given->judged) && given->judged->kind == CODES && work.keys.kind == CODES && work.keys.entries)
        work.keys.text_size = work.keys.entries->length, work.keys.entries = NULL;
    if (!is_matchable(&work.keys, given->judged) || !measure_groups(given, &work)) return BROKEN;
    most_hits = given->keep_repeats ? work.most_rows : work.most_judged;
    most_rows = given->keep_repeats ? work.most_judged : work.most_rows;
    if (!given->keep_repeats) measure_range(&work.keys, &work.places);
    if (work.places.range) most_rows = 0;   /* no table is needed */
    work.places.rows = calloc(work.places.range + 1, sizeof *work.places.rows);
    work.table.slots = malloc(count_slots(most_rows) * sizeof *work.table.slots);
    work.hits = malloc((2 * (size_t)most_hits + 1) * sizeof *work.hits);
    work.spare = work.hits ? work.hits + most_hits : NULL;
    int status = work.table.slots && work.places.rows && work.hits ? OK : NO_MEMORY;
    for (int64_t g = 0; g < given->groups && !status; g++) {
        if (given->queries[g] < 0) continue;
        status = match_items(given, &work, g, &count);
        if (!status) status = rank_hits(given, &work, g, count);
        if (!status) write_hits(given, &work, g, count);
        if (work.broken) status = BROKEN;
    }
    free(work.places.rows);
    free(work.table.slots);
    free(work.hits);
    return !status && given->hits > given->capacity ? FULL : status;
}

/* --- Content --------------------------------------------------------------------------------- */

/* Rows whose hashes are added up. Group g has the query `queries[g]` in one lane, and `queries[groups + g]` in the other. */
typedef struct {
    const Column *items;
    const double *numbers;             /* of each row */
    const int64_t *offsets;            /* groups + 1 */
    const uint64_t *queries;           /* 2 x groups */
    int64_t groups;
    uint64_t role;
    uint64_t sums[2];
} Content;

static uint64_t mix(uint64_t value, int lane) {
    value *= lane ? 0xA0761D6478BD642Full : 0xD6E8FEB86659FD93ull;
    return value ^ value >> 32;
}

static uint64_t finish(uint64_t value) {
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCDull;
    value = (value ^ value >> 29) * 0xC4CEB9FE1A85EC53ull;
    return value ^ value >> 32;
}

static uint64_t order_bytes(uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

/* The last 1 to 7 bytes of a text as a word, the first byte lowest. */
static uint64_t load_rest(const uint8_t *at, uint64_t size) {
    uint64_t word = 0;
    for (uint64_t i = 0; i < size; i++) word |= (uint64_t)at[i] << 8 * i;
    return word;
}

static void hash_text(Key key, uint64_t role, uint64_t *lanes) {
    const uint8_t *at = key.at;
    uint64_t size = key.size, a = 0x9E3779B97F4A7C15ull ^ (4 * size + role), b = 0xC2B2AE3D27D4EB4Full ^ (4 * size + role);
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word = order_bytes(load64(at));
        a = mix(a ^ word, 0), b = mix(b ^ word, 1);
    }
    if (size) {
        uint64_t word = load_rest(at, size);
        a = mix(a ^ word, 0), b = mix(b ^ word, 1);
    }
    lanes[0] = finish(a), lanes[1] = finish(b);
}

/* Adds up the hashes of all rows: those of kernel/content.py, bit for bit. */
int hash_rows(Content *given) {
    const Column *items = given->items;
    int broken = 0;
    uint64_t sums[2] = {0, 0};
    for (int64_t group = 0; group < given->groups; group++) {
        int64_t row = given->offsets[group], end = given->offsets[group + 1];
        if (!is_within(row, end, items->length)) return BROKEN;
        for (; row < end; row++) {
            uint8_t digits[21];
            uint64_t lanes[2], bits;
            double number = given->numbers[row] + 0.;   /* no -0 */
            Key key = key_at(items, row, &broken);
            if (broken) return BROKEN;
            if (!key.at) key = key_of_decimal(key.size, items->kind != UINT64 && (int64_t)key.size < 0, digits);
            hash_text(key, given->role, lanes);
            memcpy(&bits, &number, 8);
            for (int lane = 0; lane < 2; lane++) {
                uint64_t query = given->queries[lane * given->groups + group];
                sums[lane] += finish(mix(mix(query + lanes[lane], lane) ^ bits, lane));
            }
        }
    }
    given->sums[0] = sums[0], given->sums[1] = sums[1];
    return OK;
}

/* --- Lines of TREC files --------------------------------------------------------------------- */

enum { SEPARATOR_ROOM = 4096, LONGEST_NUMBER = 512, MOST_FIELDS = 6 };

/* Sets a bit for each of 64 bytes that is at most a blank, the lowest bit for the first byte. */
static uint64_t mask_separators(const uint8_t *at) {
    uint64_t mask = 0;
#ifdef __SSE2__
    const __m128i blank = _mm_set1_epi8(' ');
    for (int i = 0; i < 4; i++) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(at + 16 * i));
        mask |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, blank), bytes)) << 16 * i;
    }
#else
    for (int i = 0; i < 64; i++) mask |= (uint64_t)(at[i] <= ' ') << i;
#endif
    return mask;
}

/* Finds the bytes from `from` on that may separate fields; the text's end is one of them. */
static int64_t find_separators(const uint8_t *text, int64_t from, int64_t size, int64_t *found) {
    int64_t count = 0;
    uint8_t tail[64];
    for (; from < size && count <= SEPARATOR_ROOM - 65; from += 64) {
        const uint8_t *at = text + from;
        if (size - from < 64) {
            memset(tail, 'x', 64);
            at = memcpy(tail, at, (size_t)(size - from));
        }
        for (uint64_t mask = mask_separators(at); mask; mask &= mask - 1)
            found[count++] = from + __builtin_ctzll(mask);
    }
    if (from >= size) found[count++] = size;
    return count;
}

/* Computes mantissa / 10^places, exactly rounded: 5^27 is the last power that fits. */
static double divide(uint64_t mantissa, int places) {
    uint64_t divisor = 1, scale;
    for (int i = 0; i < places; i++) divisor *= 5;
    int up = __builtin_clzll(mantissa), divisor_up = __builtin_clzll(divisor);
    divisor <<= divisor_up;
    unsigned __int128 dividend = (unsigned __int128)(mantissa << up) << 63;
    uint64_t quotient = (uint64_t)(dividend / divisor);   /* has 62 bits or more, so that */
    quotient |= dividend != (unsigned __int128)quotient * divisor;   /* its last bit may stand for the remainder */
    scale = (uint64_t)(1023 + divisor_up - up - places - 63) << 52;
    double power;
    memcpy(&power, &scale, 8);
    return (double)quotient * power;
}

/* Reads any decimal, exactly rounded. Without a decimal point, strtod does not depend on the locale. */
static double read_slowly(const uint8_t *digits, const uint8_t *end, int exponent) {
    char buffer[LONGEST_NUMBER + 16], *to = buffer;
    for (; digits < end; digits++) if (*digits != '.') *to++ = (char)*digits;
    *to++ = 'e';
    if (exponent < 0) *to++ = '-', exponent = -exponent;
    for (int unit = 100000; unit; unit /= 10) *to++ = (char)('0' + exponent / unit % 10);
    *to = 0;
    return strtod(buffer, NULL);
}

static int is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

/* Reads a plain decimal, [+-]digits[.digits][e[+-]digits], that fills the field; returns 0 for others. */
static int read_number(const uint8_t *at, const uint8_t *end, double *number) {
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
                                    1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int negative = 0, exponent = 0, written = 0;
    uint64_t mantissa = 0;
    if (end - at > LONGEST_NUMBER) return 0;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    const uint8_t *first = at, *last;
    for (; at < end && is_digit(*at); at++) mantissa = 10 * mantissa + (*at - '0');   /* may wrap */
    int64_t digits = at - first;
    if (at < end && *at == '.') {
        const uint8_t *point = ++at;
        for (; at < end && is_digit(*at); at++) mantissa = 10 * mantissa + (*at - '0');
        exponent = (int)(point - at), digits += at - point;
    }
    if (!digits) return 0;
    last = at;
    if (at < end && (*at == 'e' || *at == 'E')) {
        int below = ++at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) at++;
        if (at == end) return 0;
        for (; at < end && is_digit(*at); at++) if (written < 10000) written = 10 * written + (*at - '0');
        exponent += below ? -written : written;
    }
    if (at != end) return 0;
    if (digits > 19)   /* leading zeros do not count */
        for (const uint8_t *zero = first; zero < last && *zero <= '0'; zero++) digits -= *zero == '0';
    if (digits <= 19 && !mantissa) *number = 0;
    else if (FLT_EVAL_METHOD == 0 && digits <= 19 && mantissa <= 1ull << 53 && exponent >= -22 && exponent <= 22)
        *number = exponent < 0 ? (double)mantissa / powers[-exponent] : (double)mantissa * powers[exponent];
    else if (digits <= 19 && exponent <= 0 && exponent >= -27) *number = divide(mantissa, -exponent);
    else *number = read_slowly(first, last, exponent);
    if (negative) *number = -*number;
    return *number >= -DBL_MAX && *number <= DBL_MAX;
}

/* Lines of a run or of qrels. A stretch is lines in a row with the same query. */
typedef struct {
    const uint8_t *text;
    int64_t size, fields, item, number, more;   /* the number of fields, and positions; may others follow? */
    double largest;                    /* the greatest number, in size */
    int64_t capacity;
    int64_t *starts;                   /* of each item */
    int32_t *sizes;
    double *numbers;
    int64_t *stretches;                /* the first row of each stretch */
    int64_t *query_starts;
    int32_t *query_sizes;
    int64_t rows, stretch_count;
    int64_t read;                      /* the start of the first line; then, that of the first line not read */
} Lines;

/* Adds the line with these fields, if it is plain. */
static int read_line(Lines *lines, const int64_t (*field)[2], int64_t count) {
    const uint8_t *text = lines->text;
    int64_t item = field[lines->item][0], size = field[lines->item][1] - item;
    int64_t query = field[0][0], query_size = field[0][1] - query;
    int64_t row = lines->rows, last = lines->stretch_count - 1;
    double number;
    if (count < lines->fields || text[query] == '#') return STOPPED;
    if (count > lines->fields) {   /* a number for a tag: an id with a blank inside may have moved the score */
        uint8_t tag = text[field[lines->fields - 1][0]];
        if (!lines->more || count > 2 * lines->fields - 2) return STOPPED;   /* or several lines in one? */
        if (is_digit(tag) || tag == '-' || tag == '+' || tag == '.') return STOPPED;
        if (memchr(text + query, '\t', (size_t)(field[lines->fields - 1][0] - query))) return STOPPED;   /* blanks in one? */
    }
    if (!read_number(text + field[lines->number][0], text + field[lines->number][1], &number)) return STOPPED;
    if (number > lines->largest || number < -lines->largest) return STOPPED;
    if (size > INT32_MAX || query_size > INT32_MAX) return STOPPED;
    if (row == lines->capacity) return FULL;
    if (last < 0 || lines->query_sizes[last] != query_size
        || memcmp(text + query, text + lines->query_starts[last], (size_t)query_size)) {
        last = lines->stretch_count++;
        lines->stretches[last] = row, lines->query_starts[last] = query, lines->query_sizes[last] = (int32_t)query_size;
    }
    lines->starts[row] = item, lines->sizes[row] = (int32_t)size, lines->numbers[row] = number;
    lines->rows++;
    return OK;
}

int split_lines(Lines *lines) {
    int64_t separators[SEPARATOR_ROOM], field[MOST_FIELDS][2] = {{0}}, known = 0, next = 0;
    lines->rows = lines->stretch_count = 0;
    if (!is_within(0, lines->read, lines->size) || lines->fields > MOST_FIELDS) return BROKEN;
    if (!is_within(0, lines->item, lines->fields - 1) || !is_within(0, lines->number, lines->fields - 1)) return BROKEN;
    while (lines->read < lines->size) {
        int64_t start = lines->read, count = 0, first = next, at;
        uint8_t byte = 0;
        for (; byte != '\n' && byte != '\r'; start = at + 1) {
            if (next == known) {
                if (!first && known) return STOPPED;   /* thousands of separators in one line */
                known = find_separators(lines->text, lines->read, lines->size, separators);
                next = first = count = 0, start = lines->read;
            }
            at = separators[next++];
            byte = at < lines->size ? lines->text[at] : '\n';
            if (byte == 0) return STOPPED;
            if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') at = start - 1;   /* part of an id */
            else if (at > start) {
                if (count < MOST_FIELDS) field[count][0] = start, field[count][1] = at;
                count++;
            }
        }
        int status = count ? read_line(lines, field, count) : OK;
        if (status) return status;
        lines->read = start;
    }
    lines->read = lines->size;
    return OK;
}

/* --- Lists of JSON's objects ----------------------------------------------------------------- */

enum { DEEPEST = 32, MOST_KEYS = 64 };

/* A list of objects. Of each key, a row has a number, or a list of so many. Other keys are passed over. */
typedef struct {
    const uint8_t *text;
    int64_t size;
    const uint8_t *keys;               /* all names, one after the other */
    int64_t keys_size, key_count;
    const int64_t *key_sizes, *widths; /* of each key: the bytes of its name, and how many numbers */
    int64_t width;                     /* numbers of a row */
    int64_t capacity;
    double *numbers;                   /* width x capacity */
    int64_t rows;
} Objects;

static const uint8_t *skip_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
    return at;
}

/* These functions return what follows, or NULL if it is not there or not plain. */
static const uint8_t *pass(uint8_t sign, const uint8_t *at, const uint8_t *end) {
    return at && (at = skip_blanks(at, end)) < end && *at == sign ? skip_blanks(at + 1, end) : NULL;
}

/* The keys of an object so far. */
typedef struct {
    const uint8_t *starts[MOST_KEYS];
    int64_t sizes[MOST_KEYS], count;
} Names;

static int is_repeated(const Names *names, const uint8_t *name, int64_t size) {
    for (int64_t i = 0; i < names->count; i++)
        if (names->sizes[i] == size && !memcmp(names->starts[i], name, (size_t)size)) return 1;
    return 0;
}

/* A string of plain ASCII, from behind its first quote on. */
static const uint8_t *pass_string(const uint8_t *at, const uint8_t *end) {
    while (at < end && *at >= ' ' && *at < 127 && *at != '"' && *at != '\\') at++;
    return at < end && *at == '"' ? at + 1 : NULL;
}

/* A key that the object does not have yet, and the colon behind it. */
static const uint8_t *pass_key(Names *names, const uint8_t *at, const uint8_t *end) {
    const uint8_t *name = at + 1;
    if (at == end || *at != '"' || !(at = pass_string(name, end))) return NULL;
    int64_t size = at - 1 - name;
    if (names->count == MOST_KEYS || is_repeated(names, name, size)) return NULL;
    names->starts[names->count] = name, names->sizes[names->count++] = size;
    return pass(':', at, end);
}

static const uint8_t *pass_number(const uint8_t *at, const uint8_t *end, double *number) {
    const uint8_t *first = at, *digits;
    if (at < end && *at == '-') at++;
    for (digits = at; at < end && is_digit(*at);) at++;
    if (at == digits || (*digits == '0' && at - digits > 1)) return NULL;
    if (at < end && *at == '.') {
        for (digits = ++at; at < end && is_digit(*at);) at++;
        if (at == digits) return NULL;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (++at < end && (*at == '-' || *at == '+')) at++;
        while (at < end && is_digit(*at)) at++;
    }
    return read_number(first, at, number) ? at : NULL;
}

static const uint8_t *pass_value(const uint8_t *at, const uint8_t *end, int depth) {
    static const char *const words[] = {"true", "false", "null"};
    double number;
    if (at < end && *at == '"') return pass_string(at + 1, end);
    if (at < end && (*at == '[' || *at == '{')) {
        uint8_t open = *at, close = open == '[' ? ']' : '}';
        Names names;
        if (!depth) return NULL;
        names.count = 0;
        at = skip_blanks(at + 1, end);
        if (at < end && *at == close) return at + 1;
        for (;;) {
            if (open == '{' && !(at = pass_key(&names, at, end))) return NULL;
            if (!(at = pass_value(at, end, depth - 1))) return NULL;
            at = skip_blanks(at, end);
            if (at < end && *at == close) return at + 1;
            if (!(at = pass(',', at, end))) return NULL;
        }
    }
    for (int i = 0; i < 3; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(end - at) >= size && !memcmp(at, words[i], size)) return at + size;
    }
    return pass_number(at, end, &number);
}

/* Reads the numbers of a key into the next row. */
static const uint8_t *read_cell(const Objects *objects, int64_t width, int64_t column, const uint8_t *at, const uint8_t *end) {
    double *to = objects->numbers + column * objects->capacity + objects->rows;
    if (width == 1) return pass_number(at, end, to);
    for (int64_t i = 0; i < width; i++, to += objects->capacity) {
        at = pass(i ? ',' : '[', at, end);
        if (!at || !(at = pass_number(at, end, to))) return NULL;
    }
    at = skip_blanks(at, end);
    return at < end && *at == ']' ? at + 1 : NULL;
}

static const uint8_t *read_object(const Objects *objects, const uint8_t *at, const uint8_t *end) {
    Names names;
    int64_t count = 0;
    names.count = 0;
    for (uint8_t sign = '{'; (at = pass(sign, at, end)); sign = ',') {
        const uint8_t *name = at + 1, *key = objects->keys;
        int64_t k = 0, column = 0;
        if (!(at = pass_key(&names, at, end))) return NULL;
        int64_t size = names.sizes[names.count - 1];
        for (; k < objects->key_count; key += objects->key_sizes[k], column += objects->widths[k], k++)
            if (objects->key_sizes[k] == size && !memcmp(key, name, (size_t)size)) break;
        if (k == objects->key_count) at = pass_value(at, end, DEEPEST);
        else at = read_cell(objects, objects->widths[k], column, at, end), count++;
        if (!at) return NULL;
        at = skip_blanks(at, end);
        if (at < end && *at == '}') return count == objects->key_count ? at + 1 : NULL;
    }
    return NULL;
}

int read_objects(Objects *objects) {
    const uint8_t *at = objects->text, *end = at + objects->size;
    int64_t width = 0, bytes = 0;
    objects->rows = 0;
    if (objects->size < 0 || !is_within(1, objects->key_count, MOST_KEYS)) return BROKEN;
    for (int64_t k = 0; k < objects->key_count; k++) {
        if (!is_within(0, objects->key_sizes[k], objects->keys_size - bytes) || !is_within(1, objects->widths[k], objects->width - width)) return BROKEN;
        bytes += objects->key_sizes[k], width += objects->widths[k];
    }
    for (uint8_t sign = '['; (at = pass(sign, at, end)); sign = ',') {
        if (objects->rows == objects->capacity) return FULL;
        if (!(at = read_object(objects, at, end))) return STOPPED;
        objects->rows++;
        at = skip_blanks(at, end);
        if (at < end && *at == ']') return skip_blanks(at + 1, end) == end ? OK : STOPPED;
    }
    return STOPPED;
}
