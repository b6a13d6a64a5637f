// SimulatedDisk: the content of a disk after the machine lost power, rebuilt from a trace of system calls. Synced data
// is present. Each later write may be present, missing, or torn at a sector; directory entries since the last sync of
// their directory are present in order up to some point. One trace serves for thousands of crashes.
import type { Random } from '../../src/base/random/random.ts'

export const tracedCalls = 'openat,pwrite64,write,ftruncate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat'

/** One completed call, at the position in the trace where it ended; a sync covers what ended before it began. */
export interface Call {
  readonly name: string
  readonly args: string
  readonly result: number
  readonly begun: number
  readonly ended: number
}

/** `<pid> call(args <unfinished ...>` and `<pid> <... call resumed>rest` are one call. */
export function callsOf(trace: string): Call[] {
  const calls: Call[] = []
  const unfinished = new Map<string, { text: string; begun: number }>()
  for (const [place, line] of trace.split('\n').entries()) {
    const space = line.indexOf(' ')
    const pid = line.slice(0, space)
    const text = line.slice(space).trimStart()
    if (text.endsWith(' <unfinished ...>')) {
      unfinished.set(pid, { text: text.slice(0, -' <unfinished ...>'.length), begun: place })
      continue
    }
    const before = text.startsWith('<... ') ? unfinished.get(pid) : undefined
    const whole = before === undefined ? text : before.text + text.slice(text.indexOf('>') + 1)
    const open = whole.indexOf('(')
    const close = whole.lastIndexOf(') ')
    const result = /^\) += (-?\d+)/.exec(whole.slice(close))?.[1]
    if (open < 0 || result === undefined) continue
    calls.push({
      name: whole.slice(0, open),
      args: whole.slice(open + 1, close),
      result: Number(result),
      begun: before?.begun ?? place,
      ended: place,
    })
  }
  return calls
}

/** The bytes of a string in the format of `strace -xx`. */
export const bytesOf = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex')

/** The text in the format of the trace. */
export const hexOf = (text: string): string => Buffer.from(text).toString('hex').replaceAll(/../g, '\\x$&')

const textOf = (hex: string): string => bytesOf(hex).toString()

type Change =
  | { readonly kind: 'write'; readonly at: number; readonly bytes: Buffer; readonly ended: number }
  | { readonly kind: 'truncate'; readonly size: number; readonly ended: number }

type EntryChange =
  | { readonly kind: 'link'; readonly name: string; readonly file: File; readonly ended: number }
  | { readonly kind: 'unlink'; readonly name: string; readonly ended: number }

class File {
  synced: Buffer = Buffer.alloc(0)
  pending: Change[] = []
}

const sectorBytes = 512

export class SimulatedDisk {
  readonly #directory: string
  /** The names in the running system and on the disk. */
  readonly #names = new Map<string, File>()
  readonly #synced = new Map<string, File>()
  #entries: EntryChange[] = []

  /** Only files below this directory are tracked. */
  constructor(directory: string) {
    this.#directory = directory
  }

  apply({ name, args, result, begun, ended }: Call): void {
    if (result < 0) return
    const quoted = Array.from(args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g), ([, hex = '']) => hex)
    const descriptor = /^\d+<((?:\\x[0-9a-f]{2})+)>/.exec(args)?.[1]
    const path = descriptor === undefined ? undefined : textOf(descriptor)
    switch (name) {
      case 'openat': {
        const opened = textOf(quoted[0] ?? '')
        if (!this.#follows(opened) || !args.includes('O_CREAT')) return
        if (!this.#names.has(opened)) this.#link(opened, new File(), ended)
        if (args.includes('O_TRUNC')) this.#names.get(opened)?.pending.push({ kind: 'truncate', size: 0, ended })
        return
      }
      case 'pwrite64': {
        const at = Number(/, (\d+)$/.exec(args)?.[1])
        const bytes = bytesOf(quoted[0] ?? '').subarray(0, result)
        return void this.#file(path)?.pending.push({ kind: 'write', at, bytes, ended })
      }
      case 'ftruncate':
        return void this.#file(path)?.pending.push({
          kind: 'truncate',
          size: Number(/, (\d+)$/.exec(args)?.[1]),
          ended,
        })
      case 'fsync':
      case 'fdatasync':
        if (path === this.#directory) return this.#syncDirectory(begun)
        return void (path !== undefined && this.#syncFile(path, begun))
      case 'rename':
      case 'renameat':
      case 'renameat2': {
        const [from = '', to = ''] = quoted.map(textOf)
        const file = this.#names.get(from)
        if (file === undefined) return
        this.#unlink(from, ended)
        return this.#link(to, file, ended)
      }
      case 'unlink':
      case 'unlinkat':
        return this.#unlink(textOf(quoted[0] ?? ''), ended)
      default:
    }
  }

  /** The files by their names without the directory, with a random outcome for unsynced changes. */
  afterPowerLoss(random: Random): Map<string, Buffer> {
    const names = new Map(this.#synced)
    for (const entry of this.#entries.slice(0, random.below(this.#entries.length + 1))) enter(names, entry)
    return new Map(
      Array.from(names, ([name, file]) => [name.slice(this.#directory.length + 1), survivorOf(file, random)] as const),
    )
  }

  #follows(path: string): boolean {
    return path.startsWith(`${this.#directory}/`)
  }

  #file(path: string | undefined): File | undefined {
    return path === undefined ? undefined : this.#names.get(path)
  }

  #link(name: string, file: File, ended: number): void {
    this.#names.set(name, file)
    this.#entries.push({ kind: 'link', name, file, ended })
  }

  #unlink(name: string, ended: number): void {
    if (this.#names.delete(name)) this.#entries.push({ kind: 'unlink', name, ended })
  }

  #syncFile(path: string, begun: number): void {
    const file = this.#names.get(path)
    if (file === undefined) return
    for (const change of file.pending) if (change.ended < begun) file.synced = changed(file.synced, change)
    file.pending = file.pending.filter(({ ended }) => ended >= begun)
  }

  #syncDirectory(begun: number): void {
    for (const entry of this.#entries) if (entry.ended < begun) enter(this.#synced, entry)
    this.#entries = this.#entries.filter(({ ended }) => ended >= begun)
  }
}

function enter(names: Map<string, File>, entry: EntryChange): void {
  if (entry.kind === 'link') names.set(entry.name, entry.file)
  else names.delete(entry.name)
}

function changed(content: Buffer, change: Change): Buffer {
  if (change.kind === 'truncate') return resized(content, change.size)
  const grown = resized(content, Math.max(content.length, change.at + change.bytes.length))
  change.bytes.copy(grown, change.at)
  return grown
}

const resized = (content: Buffer, size: number): Buffer =>
  size <= content.length ? content.subarray(0, size) : Buffer.concat([content, Buffer.alloc(size - content.length)])

/** Unsynced changes are not ordered: each is kept, lost, or torn at the end of a sector. */
function survivorOf({ synced, pending }: File, random: Random): Buffer {
  let content: Buffer = Buffer.from(synced)
  for (const change of pending)
    switch (random.below(3)) {
      case 0:
        break
      case 1:
        content = changed(content, change)
        break
      default: {
        if (change.kind === 'truncate') break
        const sectors = random.below(Math.ceil(change.bytes.length / sectorBytes) + 1)
        content = changed(content, { ...change, bytes: change.bytes.subarray(0, sectors * sectorBytes) })
      }
    }
  return content
}
