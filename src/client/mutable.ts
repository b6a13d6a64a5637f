// Mutable: the type of a copy that may be changed, with all that it holds.
export type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T
