/** The format as a pattern for a whole text. Messages of the API show the format, so it is kept as text. */
// linear: formats are checked when the modules that define them are loaded.
export const wholePattern = (format: string): RegExp => new RegExp(`^${format}$`)
