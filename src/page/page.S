// What the web build has made (web/dist), and one of the style sheets that it took, as they are.
    .section .rodata

    .global spotter_page, spotter_page_end, spotter_licences, spotter_licences_end
    .global spotter_static_style, spotter_static_style_end
    .hidden spotter_page, spotter_page_end, spotter_licences, spotter_licences_end
    .hidden spotter_static_style, spotter_static_style_end
    .balign 16
spotter_page:
    .incbin SPOTTER_PAGE
spotter_page_end:
    .byte 0

spotter_licences:
    .incbin SPOTTER_LICENCES
spotter_licences_end:
    .byte 0

spotter_static_style:
    .incbin SPOTTER_STATIC_STYLE
spotter_static_style_end:
    .byte 0

    .section .note.GNU-stack, "", %progbits
