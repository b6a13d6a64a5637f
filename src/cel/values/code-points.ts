// Code points: the unit of positions and sizes of text. JavaScript counts UTF-16 code units.

export const codePoints = (text: string): string[] => Array.from(text)
