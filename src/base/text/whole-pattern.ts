/** Compiles a format to a pattern for the whole text. API messages show the format, so it is stored as text. */
// linear: formats are checked when the modules that define them are loaded.
export const wholePattern = (format: string): RegExp => new RegExp(`^${format}$`)
