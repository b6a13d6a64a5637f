// Links in proxied pages. Those of the first table were recorded from kube-apiserver v1.36.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { WirePieces, WireResponse } from '../../../platform/http/listener.ts'
import { linkThrough, PageRewriter, rewriteLinks } from './proxy-links.ts'

const root = '/api/v1/namespaces/default/pods/p:80/proxy'
const host = '10.0.0.7:80'
const place = { root, host, clientHost: 'api.example:6443' }

const links: [link: string, through: string][] = [
  ['/there', `${root}/there`],
  ['/there/?a=b#c', `${root}/there/?a=b#c`],
  ['rel', 'rel'],
  ['', ''],
  ['?q', '?q'],
  ['//other/z', '//other/z'],
  ['http://other.example/z', 'http://other.example/z'],
  [`http://${host}/z`, `${root}/z`],
  [`https://${host}/z`, `${root}/z`],
  [`http://${host}`, `${root}/`],
  [`http://${host}.evil/z`, `http://${host}.evil/z`],
  [`http://user@${host}/z`, `http://user@${host}/z`],
  [`${root}/x`, `${root}/x`],
  ['/a/../b', `${root}/b`],
  ['/a/./../../b//c/?d', `${root}/b/c/?d`],
  ['/', `${root}/`],
  ['http://api.example:6443/z?a', `http://api.example:6443${root}/z?a`],
]
for (const [link, through] of links)
  test(`the link ${JSON.stringify(link)} is rewritten to ${JSON.stringify(through)}`, () =>
    equal(linkThrough(link, place), through))

const page =
  '<a href="/a?y=1#z">a</a><a href="rel">b</a><img src=\'/i.png\' alt="/no"><A HREF=/up>x</A><form action = "/f"></form>' +
  '<!-- <a href="/c"> --><script src="/s.js">if (a<b) "<a href=\'/no\'>"</script><p href="/no" title="a > b"><a title=">" href="/q">' +
  '<a data-href="/no" href="/r"> 1 < 2 <link href="//host/x"><a href>'
const rewritten = page
  .replace('"/a?', `"${root}/a?`)
  .replace("'/i", `'${root}/i`)
  .replace('=/up', `=${root}/up`)
  .replace('"/f"', `"${root}/f"`)
  .replace('"/s.js', `"${root}/s.js`)
  .replace('"/q"', `"${root}/q"`)
  .replace('"/r"', `"${root}/r"`)

for (const length of [1, 2, 3, 7, 50, 1000])
  test(`only the links of a page in chunks of ${length} characters are rewritten`, () => {
    const pages = new PageRewriter((link) => linkThrough(link, place))
    let text = ''
    for (let at = 0; at < page.length; at += length) text += pages.write(page.slice(at, at + length))
    equal(text + pages.end(), rewritten)
  })

test('a tag that does not end is passed on', () => {
  const pages = new PageRewriter((link) => `!${link}`)
  const endless = `<a title="${'x'.repeat(20_000)}`
  equal(pages.write(endless) + pages.write('">') + pages.end(), `${endless}">`)
})

test('only HTML is rewritten, and headers that allow cross-origin reads are removed', () => {
  const answer = (type: string, more: Record<string, string> = {}) =>
    rewriteLinks({ status: 200, headers: { 'content-type': type, ...more }, body: '<a href="/x">' }, place)
  equal(answer('text/html; charset=utf-8').body, `<a href="${root}/x">`)
  equal(answer('application/xhtml+xml').body, '<a href="/x">')
  equal(answer('text/html', { 'content-encoding': 'br' }).body, '<a href="/x">')
  deepEqual(answer('text/plain', { 'access-control-allow-origin': '*', location: '/y' }).headers, {
    'cache-control': ['no-cache, private'],
    'content-type': 'text/plain',
    location: `${root}/y`,
  })
})

const bytes = (text: string) => new TextEncoder().encode(text)
const pageWith = (body: WireResponse['body']) =>
  rewriteLinks({ status: 200, headers: { 'content-type': 'text/html' }, body }, place).body

test('the links of a page of bytes are rewritten, and its other characters are kept', () => {
  deepEqual(pageWith(bytes('<a href="/é">ü</a>')), bytes(`<a href="${root}/é">ü</a>`))
  const latin = Uint8Array.of(0xe9, 0xff)
  deepEqual(pageWith(latin), latin)
})

test('a streamed page is rewritten as it arrives, also where a tag is cut off', async () => {
  const pieces: Uint8Array[] = []
  async function* sent() {
    yield* ['<p>é', '<a hre', bytes('f="/x">'), '<a href="/y']
  }
  const body = pageWith(sent())
  ok(typeof body !== 'string' && Symbol.asyncIterator in body)
  for await (const piece of body) pieces.push(piece as Uint8Array)
  // The second piece is buffered until its tag is complete, the last until the end of the page.
  deepEqual(
    pieces.map((piece) => new TextDecoder().decode(piece)),
    ['<p>é', `<a href="${root}/x">`, '<a href="/y'],
  )
})

test('a stream that the connection takes pieces from is passed on', () => {
  const body: WirePieces = { listen: () => undefined, take: () => undefined, close: () => undefined }
  equal(pageWith(body), body)
})
