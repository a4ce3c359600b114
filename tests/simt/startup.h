/* startup.h - finds shared memory, and the arrays in it, before main. */
#ifndef SIMT_STARTUP_H
#define SIMT_STARTUP_H

#include "faults.h"
#include "settings.h"

/* The program or library that contains this emulator: the address from which its sections count, and its file. */
struct simt_object {
    uintptr_t address;
    const char *file;
};

SIMT_OWN simt_object simt_own_object(void)
{
    simt_object own = {0, "no file"};
    dl_iterate_phdr(
        [](dl_phdr_info *object, size_t, void *result) {
            uintptr_t inside = (uintptr_t)simt_dynamic_shared - object->dlpi_addr;
            for (int i = 0; i < object->dlpi_phnum; i++) {
                const ElfW(Phdr) &segment = object->dlpi_phdr[i];
                if (segment.p_type != PT_LOAD || inside - segment.p_vaddr >= segment.p_memsz)
                    continue;
                const char *file = object->dlpi_name[0] ? object->dlpi_name : "/proc/self/exe"; /* the program itself */
                *(simt_object *)result = simt_object{object->dlpi_addr, file};
                return 1;
            }
            return 0;
        },
        &own);
    return own;
}

SIMT_OWN bool simt_read_at(FILE *file, size_t offset, void *to, size_t bytes)
{
    return fseek(file, (long)offset, SEEK_SET) == 0 && fread(to, 1, bytes, file) == bytes;
}

/* An array in static shared memory. */
struct simt_array {
    size_t offset, bytes;
    uint32_t launch; /* the last one that accessed it */
};
SIMT_STATE std::vector<simt_array> simt_arrays;

/* Finds the arrays in the section of this number, from the symbols of the file if it has any. */
SIMT_OWN bool simt_find_arrays(FILE *file, const ElfW(Shdr) &table, size_t section, uintptr_t section_address)
{
    std::vector<ElfW(Sym)> symbols(table.sh_size / sizeof(ElfW(Sym)));
    if (!simt_read_at(file, table.sh_offset, symbols.data(), symbols.size() * sizeof symbols[0]))
        return false;
    for (const ElfW(Sym) &symbol : symbols)
        if (symbol.st_shndx == section && ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size)
            simt_arrays.push_back(simt_array{symbol.st_value - section_address, symbol.st_size, 0});
    return true;
}

/* Finds the section .noinit by the section headers of the file, because the linker defines no symbols for it. */
SIMT_OWN bool simt_find_shared(FILE *file, uintptr_t address)
{
    size_t shared = 0, number = 0;
    ElfW(Ehdr) header;
    if (!simt_read_at(file, 0, &header, sizeof header))
        return false;
    std::vector<ElfW(Shdr)> sections(header.e_shnum);
    if (!simt_read_at(file, header.e_shoff, sections.data(), sections.size() * sizeof sections[0]))
        return false;
    std::vector<char> names(sections[header.e_shstrndx].sh_size);
    if (!simt_read_at(file, sections[header.e_shstrndx].sh_offset, names.data(), names.size()))
        return false;
    for (const ElfW(Shdr) &section : sections) {
        const char *name = &names[section.sh_name];
        if (strcmp(name, ".noinit") == 0) {
            simt.shared = (unsigned char *)(address + section.sh_addr);
            simt.shared_range = section.sh_size;
            shared = number;
        } else if (strncmp(name, ".noinit.", 8) == 0) {
            fprintf(stderr, "simt: %s: its function has to be static\n", name + 8);
            return false;
        }
        number++;
    }
    for (const ElfW(Shdr) &section : sections)
        if (SIMT_WATCHED && section.sh_type == SHT_SYMTAB &&
            !simt_find_arrays(file, section, shared, sections[shared].sh_addr))
            return false;
    return simt.shared != nullptr;
}

struct simt_startup {
    SIMT_OWN simt_startup()
    {
        simt_object own = simt_own_object();
        FILE *file = fopen(own.file, "rb");
        if (!file || !simt_find_shared(file, own.address)) {
            fprintf(stderr, "simt: cannot set up shared memory from the section .noinit of %s\n", own.file);
            exit(SIMT_EXIT_STATUS);
        }
        fclose(file);
        simt.current = -1;
        simt.major = 9;
        simt.shared_most = SIMT_MAX_SHARED;
        simt.processors = 4;
        if (const char *seed = getenv("SIMT_SEED"))
            simt_permute(strtoull(seed, nullptr, 0));
        atexit(simt_at_exit);
    }
};
SIMT_STATE simt_startup simt_started;

#endif
