// The files of the web UI. They contain no data of the cluster, so they are served without authentication.
import { PageNotFound } from '../../api/errors/status-error.ts'
import type { Presented } from '../request/request.ts'
import type { WireResponse } from '../../platform/http/listener.ts'

export interface UiFile {
  readonly contentType: string
  readonly bytes: Uint8Array
  /** A digest of the bytes. */
  readonly tag: string
  /** The bytes in content encodings, smallest first. */
  readonly encodings: readonly { readonly name: string; readonly bytes: Uint8Array }[]
}

/** By their names. Empty if the page has not been built. */
export type UiFiles = ReadonlyMap<string, UiFile>

export const uiRoot = '/ui/'

/** The page may only load what this server serves, and must not be embedded. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** Paths at which the page itself is served. */
const pagePaths = [uiRoot, `${uiRoot}login`]

export function assetResponse(path: string, headers: Presented['headers'], files: UiFiles): WireResponse {
  if (`${path}/` === uiRoot) return { status: 308, headers: { ...pageHeaders, location: uiRoot }, body: '' }
  const isPage = pagePaths.includes(path)
  // Names are keys of a map, so no path leads to another file.
  const name = isPage ? 'index.html' : path.slice(uiRoot.length)
  const file = files.get(name)
  if (file !== undefined) return fileResponse(file, name, headers)
  if (isPage) return unbuiltPage
  throw new PageNotFound()
}

function fileResponse(file: UiFile, name: string, headers: Presented['headers']): WireResponse {
  const { contentType, tag, encodings, bytes } = file
  const accepted = (headers['accept-encoding'] ?? '').split(',').map((coding) => coding.trim())
  const encoding = encodings.find((each) => accepted.includes(each.name))
  const etag = `"${tag}${encoding === undefined ? '' : `-${encoding.name}`}"`
  const shared = {
    ...pageHeaders,
    'cache-control': hasHash(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'Accept-Encoding',
  }
  if (headers['if-none-match'] === etag) return { status: 304, headers: shared, body: '' }
  const encoded = encoding === undefined ? {} : { 'content-encoding': encoding.name }
  return {
    status: 200,
    headers: { ...shared, ...encoded, 'content-type': contentType },
    body: encoding?.bytes ?? bytes,
  }
}

/** `app-3Fk29xQa.js`: the content of such a name never changes. */
const hasHash = (name: string): boolean => /-[\w-]{8,}\.[a-z0-9]+$/.test(name) // linear: the names of our own files

const unbuiltPage: WireResponse = {
  status: 503,
  headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  body: `<!doctype html>
<html lang="en"><title>Coxswain</title>
<h1>The web UI has not been built</h1>
<p>Run <code>npm run build</code> in the checkout, then start the cluster again.</p>
</html>
`,
}
