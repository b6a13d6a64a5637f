// Tar archives in ustar format: image layers and whole images. The same files give the same bytes.
import { concatBytes } from '../../base/collections/concat-bytes.ts'

export interface TarEntry {
  readonly path: string
  /** Permission bits; default: 0644 for files and 0755 for directories. */
  readonly mode?: number
  readonly content?: Uint8Array
  /** The target of a symbolic link. An entry without content and link is a directory. */
  readonly link?: string
}

const blockBytes = 512
const pathBytesMax = 100

export function tar(entries: readonly TarEntry[]): Uint8Array {
  const pieces = entries.flatMap(({ content = new Uint8Array(), ...entry }) => {
    const padding = (blockBytes - (content.length % blockBytes)) % blockBytes
    return [header({ ...entry, content }), content, new Uint8Array(padding)]
  })
  return concatBytes([...pieces, new Uint8Array(2 * blockBytes)])
}

function header({ path, mode, content, link }: TarEntry & { readonly content: Uint8Array }): Uint8Array {
  const isDirectory = path.endsWith('/')
  const block = new Uint8Array(blockBytes)
  const text = (at: number, value: string) => block.set(new TextEncoder().encode(value), at)
  const octal = (at: number, width: number, value: number) =>
    text(at, `${value.toString(8).padStart(width - 1, '0')}\0`)
  if (path.length > pathBytesMax) throw new RangeError(`the path ${path} is too long for a tar archive`)
  text(0, path)
  octal(100, 8, mode ?? (isDirectory ? 0o755 : 0o644))
  octal(108, 8, 0)
  octal(116, 8, 0)
  octal(124, 12, content.length)
  octal(136, 12, 0)
  text(156, link !== undefined ? '2' : isDirectory ? '5' : '0')
  text(157, link ?? '')
  text(257, 'ustar\x0000')
  text(148, ' '.repeat(8))
  const sum = block.reduce((total, byte) => total + byte, 0)
  text(148, `${sum.toString(8).padStart(6, '0')}\0 `)
  return block
}
