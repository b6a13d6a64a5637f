// Paths that servers interpret differently, so that a request with one could bypass a rule.

/** A dot may be encoded, also repeatedly; some servers take a backslash for a slash, or ignore what follows a semicolon. */
const dotSegment = /(?:[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:[/\\;]|%(?:25)*(?:2f|5c|3b)|$)/i
/** A backslash is no character of a URL; some servers end a path at NUL. */
const ambiguousCharacter = /\\|%(?:25)*00/

/** Whether a path has dot segments, a backslash or NUL. */
export const isAmbiguousPath = (path: string): boolean => ambiguousCharacter.test(path) || dotSegment.test(path)
