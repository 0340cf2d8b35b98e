# The package `cede` for programs in Python, and `pbs_ifl`, the names that scripts of PBS's own module use. Its tables are those of
# hooks/module.mk; the names of attributes come from the public header.
PYTHON.copied := $(patsubst python/%,$(B)/lib/python/%,$(wildcard python/cede/*.py) python/cede/py.typed python/pbs_ifl.py)
PYTHON.files := $(PYTHON.copied) $(B)/lib/python/cede/tables.py $(B)/lib/python/cede/names.py
EXTRA += $(PYTHON.files)
$(PYTHON.copied): $(B)/lib/python/%: python/%
	@install -D -m 0644 $< $@

$(B)/lib/python/cede/tables.py: $(B)/tool/pbs_tables
	@mkdir -p $(@D)
	@$< > $@

# A definition of pbs_ifl.h whose value is a text or a number is a constant of the same name.
$(B)/lib/python/cede/names.py: ifl/include/pbs_ifl.h
	@mkdir -p $(@D)
	@{ echo '"""Names and numbers of pbs_ifl.h. Made by the build; not edited."""'; \
	   sed -n 's/^#define  *\([A-Za-z_0-9]*\)  *\("[^"]*"\|0x[0-9a-fA-F]*\|[0-9][0-9]*\|'"'[A-Z]'"'\)\( .*\)\?$$/\1 = \2/p' $<; } > $@
