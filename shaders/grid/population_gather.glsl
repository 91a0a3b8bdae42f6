// One example into values[] and wanted[], which the including shader has declared, with examples[].
void gather(uint example) {
    [[unroll]] for (uint quad = 0; quad < exampleQuads; ++quad) {
        vec4 four = examples[example * exampleQuads + quad];
        [[unroll]] for (uint k = 0; k < 4; ++k) {
            uint at = 4 * quad + k;
            if (at < inputs) values[at] = four[k];
            else if (at < inputs + outputs) wanted[at - inputs] = four[k];
        }
    }
}
