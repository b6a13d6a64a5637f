// Shell commands about files in simulated containers. Messages and exit codes are those of busybox.
import { lookup } from '../../base/collections/lookup.ts'
import { FileError, type FileErrorCode } from '../disk/file-error.ts'
import type { ContainerFiles } from './container-files.ts'

export interface FileCommandProcess {
  readonly files: ContainerFiles
  readonly print: (text: string) => void
  readonly printError: (text: string) => void
}

/** Resolves with the exit code; undefined when the arguments are not supported. */
type FileCommand = (args: readonly string[], process: FileCommandProcess) => Promise<number> | undefined

const texts: Readonly<Record<FileErrorCode, string>> = {
  EBUSY: 'Resource busy',
  EISDIR: 'Is a directory',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  EROFS: 'Read-only file system',
}

export const fileErrorText = (error: unknown): string =>
  error instanceof FileError ? texts[error.code] : error instanceof Error ? error.message : String(error)

/** The paths, if all flags are among the known ones. */
function pathsOf(args: readonly string[], flags: string): { set: ReadonlySet<string>; paths: string[] } | undefined {
  const set = new Set(args.filter((arg) => arg.startsWith('-')).flatMap((arg) => arg.slice(1).split('')))
  const paths = args.filter((arg) => !arg.startsWith('-'))
  return args.includes('-') || [...set].some((flag) => !flags.includes(flag)) ? undefined : { set, paths }
}

/** Runs the action for each path; prints failures. */
async function forEach(
  paths: readonly string[],
  { printError }: FileCommandProcess,
  message: (path: string, why: string) => string,
  act: (path: string) => Promise<void>,
): Promise<number> {
  let status = 0
  for (const path of paths)
    try {
      await act(path)
    } catch (error) {
      printError(`${message(path, fileErrorText(error))}\n`)
      status = 1
    }
  return status
}

export const fileCommands: Readonly<Record<string, FileCommand>> = {
  cat(args, process) {
    const given = pathsOf(args, '')
    if (given === undefined || given.paths.length === 0) return undefined
    const message = (path: string, why: string) => `cat: can't open '${path}': ${why}`
    return forEach(given.paths, process, message, async (path) => process.print(await process.files.read(path)))
  },
  ls(args, process) {
    const given = pathsOf(args, 'aA1')
    if (given === undefined || given.paths.length > 1) return undefined
    const [path = '.'] = given.paths
    const isAll = given.set.has('a') || given.set.has('A')
    const message = (name: string, why: string) => `ls: ${name}: ${why}`
    return forEach([path], process, message, async () => {
      const isFile = (await process.files.kindOf(path)) === 'file'
      const names = isFile ? [path] : await process.files.list(path)
      for (const name of names) if (isFile || isAll || !name.startsWith('.')) process.print(`${name}\n`)
    })
  },
  mkdir(args, process) {
    const given = pathsOf(args, 'p')
    if (given === undefined || given.paths.length === 0 || !given.set.has('p')) return undefined
    const message = (path: string, why: string) => `mkdir: can't create directory '${path}': ${why}`
    return forEach(given.paths, process, message, (path) => process.files.makeDirectory(path))
  },
  rm(args, process) {
    const given = pathsOf(args, 'rRf')
    if (given === undefined || given.paths.length === 0) return undefined
    const isRecursive = given.set.has('r') || given.set.has('R')
    const message = (path: string, why: string) => `rm: can't remove '${path}': ${why}`
    return forEach(given.paths, process, message, async (path) => {
      const kind = await process.files.kindOf(path)
      if (kind === undefined && !given.set.has('f')) throw new FileError('ENOENT', 'unlink', path)
      if (kind === 'directory' && !isRecursive) throw new FileError('EISDIR', 'unlink', path)
      await process.files.remove(path)
    })
  },
  touch(args, process) {
    const given = pathsOf(args, '')
    if (given === undefined || given.paths.length === 0) return undefined
    return forEach(
      given.paths,
      process,
      (path, why) => `touch: ${path}: ${why}`,
      async (path) => {
        if ((await process.files.kindOf(path)) === undefined) await process.files.write(path, '')
      },
    )
  },
}

export const fileCommandNamed = (name: string): FileCommand | undefined => lookup(fileCommands, name)
