# {{ title }}: proved kernels for {{ chip }}.
# Made by lozenge {{ version }}: {{ command }}
# SPDX-License-Identifier: {{ licence }}

idf_component_register(
    SRCS
{% for source in sources %}
        "src/{{ source }}"
{% endfor %}
    INCLUDE_DIRS "include")
