// Mutable: the type without `readonly`, recursively.
export type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T
