# Workers that run hooks, and the hooks of an event one after the other.
$(call storey, ifl/hook/loop, ifl/hook ifl/spec base/loop base)
