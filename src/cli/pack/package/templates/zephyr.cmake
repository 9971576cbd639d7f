# Made by lozenge {{ version }}: {{ command }}
# SPDX-License-Identifier: {{ licence }}

if(CONFIG_{{ name | upper }})
    zephyr_include_directories(../include)
    zephyr_library_named({{ name }})
    zephyr_library_sources(
{% for source in sources %}
        ../src/{{ source }}
{% endfor %}
    )
endif()
