// uiFiles: the files of the web UI, read from the bundle and compressed once, when the page is first requested.
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { UiFile, UiFiles } from '../../apiserver/ui/ui-assets.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'

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

/** The folder in the bundle of which this module is part, or in the one that the checkout has built. */
const folderDefault = (beside: string): string =>
  fileURLToPath(new URL(beside.endsWith('.ts') ? '../../../dist/ui/' : './ui/', beside))

/** Reads the files once. A failed read is repeated with the next request. */
export function uiFiles(folder = folderDefault(import.meta.url)): () => Promise<UiFiles> {
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
    if (contentType !== undefined) files.set(name, await compressed(contentType, await readFile(join(folder, name))))
  }
  return files
}

async function compressed(contentType: string, bytes: Uint8Array): Promise<UiFile> {
  const tag = nodeCrypto.sha256(bytes).toBase64({ alphabet: 'base64url', omitPadding: true })
  const encodings = [
    { name: 'br', bytes: await promisify(brotliCompress)(bytes, { params: brotliParams }) },
    { name: 'gzip', bytes: await promisify(gzip)(bytes, { level: 9 }) },
  ]
  return { contentType, bytes, tag, encodings: encodings.filter((each) => each.bytes.length < bytes.length) }
}

const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 9 }
