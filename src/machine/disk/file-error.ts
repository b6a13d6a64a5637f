// FileError: a failed operation on a simulated file, with the code and message of the system call.

const messages = {
  EBUSY: 'resource busy or locked',
  EISDIR: 'illegal operation on a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  EROFS: 'read-only file system',
} as const

export type FileErrorCode = keyof typeof messages

export class FileError extends Error {
  override name = 'FileError'
  readonly code: FileErrorCode
  readonly path: string

  constructor(code: FileErrorCode, call: string, path: string) {
    super(`${code}: ${messages[code]}, ${call} '${path}'`)
    this.code = code
    this.path = path
  }
}
