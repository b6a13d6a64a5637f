// uiFiles: the files of the web UI with their compressed forms, read from the bundle once, when the page is first requested.
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { UiFile, UiFiles } from '../../apiserver/ui/ui-assets.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { pageFolder } from '../../platform/process/own-files.ts'

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Reads the files once. A failed read is repeated with the next request. */
export function uiFiles(folder = fileURLToPath(pageFolder())): () => Promise<UiFiles> {
  let files: Promise<UiFiles> | undefined
  return () => {
    files ??= readUiFiles(folder).catch((error: unknown) => {
      files = undefined
      throw error
    })
    return files
  }
}

async function readUiFiles(folder: string): Promise<UiFiles> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const files = new Map<string, UiFile>()
  for (const name of names) {
    const contentType = lookup(contentTypes, extname(name))
    // Other files, such as source maps, are not part of the page.
    if (contentType !== undefined) files.set(name, await readUiFile(folder, name, contentType, names))
  }
  return files
}

/** The content encodings of compressed forms, the smallest first, and how the names of their files end. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

async function readUiFile(
  folder: string,
  name: string,
  contentType: string,
  names: readonly string[],
): Promise<UiFile> {
  const bytes = await readFile(join(folder, name))
  const tag = nodeCrypto.sha256(bytes).toBase64({ alphabet: 'base64url', omitPadding: true })
  const encodings: { readonly name: string; readonly bytes: Uint8Array }[] = []
  for (const [coding, ending] of codings)
    if (names.includes(`${name}${ending}`))
      encodings.push({ name: coding, bytes: await readFile(join(folder, `${name}${ending}`)) })
  return { contentType, bytes, tag, encodings: encodings.filter((each) => each.bytes.length < bytes.length) }
}
