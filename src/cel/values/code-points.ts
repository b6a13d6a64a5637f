// Code points: what positions and sizes of text count. JavaScript's own count UTF-16.

export const codePoints = (text: string): string[] => Array.from(text)
