// What the web build has made (web/dist), as it is.
    .section .rodata

    .global spotter_page, spotter_page_end, spotter_licences, spotter_licences_end
    .hidden spotter_page, spotter_page_end, spotter_licences, spotter_licences_end
    .balign 16
spotter_page:
    .incbin SPOTTER_PAGE
spotter_page_end:
    .byte 0

spotter_licences:
    .incbin SPOTTER_LICENCES
spotter_licences_end:
    .byte 0

    .section .note.GNU-stack, "", %progbits
