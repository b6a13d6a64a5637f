// rewriteLinks: the response of a server behind a proxy, with its links rewritten to the proxy: the Location header,
// and the attributes of HTML that contain addresses. Pages are rewritten as a stream, one tag at a time.
import { setOwn } from '../../../base/collections/lookup.ts'
import type { WireResponse } from '../../../platform/http/listener.ts'

/** Attributes that contain addresses, by element. */
const addressAttributes = new Map(
  Object.entries({
    a: ['href'],
    applet: ['codebase'],
    area: ['href'],
    audio: ['src'],
    base: ['href'],
    blockquote: ['cite'],
    body: ['background'],
    button: ['formaction'],
    command: ['icon'],
    del: ['cite'],
    embed: ['src'],
    form: ['action'],
    frame: ['longdesc', 'src'],
    head: ['profile'],
    html: ['manifest'],
    iframe: ['longdesc', 'src'],
    img: ['longdesc', 'src', 'usemap'],
    input: ['formaction', 'src', 'usemap'],
    ins: ['cite'],
    link: ['href'],
    object: ['classid', 'codebase', 'data', 'usemap'],
    q: ['cite'],
    script: ['src'],
    source: ['src'],
    video: ['poster', 'src'],
  }),
)

/** Longer tags are not rewritten. */
const tagCharactersMax = 8 * 1024

export interface ProxyPlace {
  /** The path of the proxy. */
  readonly root: string
  /** The server behind it, and the host that the client named: the server is sent that name. */
  readonly host: string
  readonly clientHost: string
}

export function rewriteLinks(response: WireResponse, place: ProxyPlace): WireResponse {
  const headers: Record<string, string | readonly string[]> = {}
  for (const [name, value] of Object.entries(response.headers))
    // The proxied server must not decide which origins may read responses of the API server.
    if (!name.startsWith('access-control-')) setOwn(headers, name, value)
  const { location } = headers
  if (typeof location === 'string') headers['location'] = linkThrough(location, place)
  headers['cache-control'] = ['no-cache, private', headers['cache-control'] ?? []].flat()
  const type = String(headers['content-type'] ?? '')
  const isPage = /^text\/html\s*(;|$)/i.test(type) && headers['content-encoding'] === undefined
  return { ...response, headers, body: isPage ? rewrittenBody(response.body, place) : response.body }
}

/** The link through the proxy. Relative links and links to other hosts stay as they are. */
export function linkThrough(link: string, { root, host, clientHost }: ProxyPlace): string {
  const origin = originAt(link, host) ?? originAt(link, clientHost)
  if (origin === undefined && (!link.startsWith('/') || link.startsWith('//'))) return link
  const path = link.slice(origin?.length ?? 0)
  // A link to the client's host stays complete, as upstream.
  const kept = origin !== undefined && origin === originAt(link, clientHost) ? origin : ''
  return `${kept}${path === root || path.startsWith(`${root}/`) ? path : `${root}${cleanPath(path)}`}`
}

const originAt = (link: string, host: string): string | undefined =>
  host === '' ? undefined : ['http', 'https'].map((scheme) => `${scheme}://${host}`).find((each) => isAt(link, each))

/** The path without `.`, `..` and empty elements; query and fragment are kept. */
function cleanPath(path: string): string {
  const end = path.search(/[?#]/)
  const [own, rest] = end < 0 ? [path, ''] : [path.slice(0, end), path.slice(end)]
  const elements: string[] = []
  for (const element of own.split('/'))
    if (element === '..') elements.pop()
    else if (element !== '' && element !== '.') elements.push(element)
  const isFolder = own.endsWith('/') && elements.length > 0
  return `/${elements.join('/')}${isFolder ? '/' : ''}${rest}`
}

const isAt = (link: string, origin: string): boolean =>
  link.startsWith(origin) && ['', '/', '?', '#'].includes(link.charAt(origin.length))

function rewrittenBody(body: WireResponse['body'], place: ProxyPlace): WireResponse['body'] {
  const pages = new PageRewriter((link) => linkThrough(link, place))
  if (typeof body === 'string') return pages.write(body) + pages.end()
  if (body instanceof Uint8Array) return bytesOf(pages.write(textOf(body)) + pages.end())
  return 'take' in body ? body : rewrittenPieces(body, pages)
}

async function* rewrittenPieces(pieces: AsyncIterable<Uint8Array | string>, pages: PageRewriter) {
  for await (const piece of pieces) {
    const text = pages.write(typeof piece === 'string' ? textOf(new TextEncoder().encode(piece)) : textOf(piece))
    if (text !== '') yield bytesOf(text)
  }
  const last = pages.end()
  if (last !== '') yield bytesOf(last)
}

/** One character per byte (Latin-1), so other encodings pass unchanged. */
function textOf(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return text
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0))

/** Rewrites HTML in pieces of any length; an incomplete tag is buffered until its end. */
export class PageRewriter {
  readonly #link: (link: string) => string
  #pending = ''
  /** The end of text that is not markup: a comment, a script. */
  #until = ''

  constructor(link: (link: string) => string) {
    this.#link = link
  }

  write(piece: string): string {
    const text = this.#pending + piece
    const lower = text.toLowerCase()
    let out = ''
    let at = 0
    for (;;) {
      const next = this.#until === '' ? text.indexOf('<', at) : lower.indexOf(this.#until, at)
      if (next < 0) {
        const held = this.#until === '' ? 0 : Math.min(this.#until.length - 1, text.length - at)
        out += text.slice(at, text.length - held)
        this.#pending = text.slice(text.length - held)
        return out
      }
      out += text.slice(at, next)
      at = next
      const end = this.#until === '' ? endOfMarkup(text, at) : at + this.#until.length
      if (end < 0 && text.length - at <= tagCharactersMax) {
        this.#pending = text.slice(at)
        return out
      }
      const markup = text.slice(at, end < 0 ? text.length : end)
      out += this.#until === '' && end >= 0 ? this.#markup(markup) : markup
      at += markup.length
      if (this.#until !== '') this.#until = ''
      else if (end >= 0) this.#until = endOfRaw(markup)
    }
  }

  /** The buffered text, at the end of the page. */
  end(): string {
    const pending = this.#pending
    this.#pending = ''
    return pending
  }

  #markup(markup: string): string {
    const element = /^<([a-z][a-z0-9]*)/i.exec(markup)?.[1]?.toLowerCase()
    const names = element === undefined ? undefined : addressAttributes.get(element)
    return names === undefined ? markup : rewrittenTag(markup, (element ?? '').length + 1, names, this.#link)
  }
}

/**
 * The position after the `>` of the markup that begins here, which may not be in quotes; -1 where it is not complete.
 */
function endOfMarkup(text: string, at: number): number {
  if (text.startsWith('<!--', at)) return at + 4
  if (!/[a-z/!?]/i.test(text[at + 1] ?? '<')) return text.length > at + 1 ? at + 1 : -1
  let quote = ''
  let last = ''
  for (let index = at + 1; index < text.length; index++) {
    const character = text[index] ?? ''
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '>') return index + 1
    else if ((character === '"' || character === "'") && last === '=') quote = character
    if (!isSpace(character)) last = character
  }
  return -1
}

/** The end of the text after a tag whose content is not markup. */
function endOfRaw(markup: string): string {
  if (markup === '<!--') return '-->'
  const element = /^<(script|style)(?=[\s/>])/i.exec(markup)?.[1]
  return element === undefined ? '' : `</${element.toLowerCase()}`
}

/** The tag with rewritten addresses. */
function rewrittenTag(tag: string, from: number, names: readonly string[], link: (link: string) => string): string {
  let out = ''
  let copied = 0
  let at = from
  while (at < tag.length) {
    const equals = tag.indexOf('=', at)
    if (equals < 0) break
    const name = lastWord(tag, at, equals)
    let start = equals + 1
    while (isSpace(tag[start])) start++
    const quote = tag[start] === '"' || tag[start] === "'" ? (tag[start] ?? '') : ''
    start += quote.length
    let end = start
    while (end < tag.length && (quote === '' ? !isSpace(tag[end]) && tag[end] !== '>' : tag[end] !== quote)) end++
    if (names.includes(name)) {
      out += tag.slice(copied, start) + link(tag.slice(start, end))
      copied = end
    }
    at = end + 1
  }
  return out + tag.slice(copied)
}

const isSpace = (character: string | undefined): boolean => character !== undefined && ' \t\r\n\f'.includes(character)

/** The word before an equals sign. */
function lastWord(tag: string, from: number, equals: number): string {
  let end = equals
  while (end > from && isSpace(tag[end - 1])) end--
  let start = end
  while (start > from && !isSpace(tag[start - 1]) && tag[start - 1] !== '/') start--
  return tag.slice(start, end).toLowerCase()
}
