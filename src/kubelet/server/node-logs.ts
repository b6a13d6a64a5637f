// /logs: logs of the node. Directories are shown as a page of links.
import type { WireResponse } from '../../platform/http/listener.ts'
import { KubeletHttpError, type KubeletHost } from './kubelet-host.ts'

const notFound = () => new KubeletHttpError(404, '404 page not found\n')

export async function nodeLogs({ systemLogs }: KubeletHost, pathname: string): Promise<WireResponse> {
  const path = decodeURIComponent(pathname.slice('/logs'.length))
  const found = path.includes('\0') ? undefined : await systemLogs?.find(path)
  if (found === undefined) throw notFound()
  if (found.kind === 'file') {
    if (path.endsWith('/')) return redirect(`../${encodeURIComponent(path.split('/').at(-2) ?? '')}`)
    const headers = {
      'content-type': 'text/plain; charset=utf-8',
      'last-modified': new Date(found.modifiedMs).toUTCString(),
    }
    return { status: 200, headers, body: found.content() }
  }
  // Relative links require a trailing slash.
  if (!path.endsWith('/')) return redirect(`${encodeURIComponent(path.split('/').at(-1) || 'logs')}/`)
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: indexPage(found.names) }
}

const redirect = (location: string): WireResponse => ({ status: 301, headers: { location }, body: '' })

const indexPage = (names: readonly string[]): string =>
  [
    '<!doctype html>',
    '<meta name="viewport" content="width=device-width">',
    '<pre>',
    ...names.map((name) => `<a href="${hrefOf(name)}">${escapeHtml(name)}</a>`),
    '</pre>\n',
  ].join('\n')

/** A name with a colon must not be parsed as a URL with a scheme. */
const hrefOf = (name: string): string =>
  `${name.includes(':') ? './' : ''}${encodeURI(name).replaceAll('?', '%3F').replaceAll('#', '%23')}`

const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&#34;')
    .replaceAll("'", '&#39;')
