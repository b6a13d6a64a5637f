// The documentation as a site: the HTML of each part of Markdown, links that lead somewhere, and the search.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { after, test } from 'node:test'
import vm from 'node:vm'
// @ts-expect-error -- plain JavaScript, as all scripts
import { markdownPage } from '../../scripts/site/markdown.mjs'
// @ts-expect-error -- plain JavaScript, as all scripts
import { searchSections } from '../../scripts/site/search.mjs'
// @ts-expect-error -- plain JavaScript, as all scripts
import { buildSite } from '../../scripts/site.mjs'

interface Section {
  readonly page: string
  readonly path: string
  readonly anchor: string
  readonly title: string
  readonly text: string
}

const folder = await mkdtemp(join(tmpdir(), 'coxswain-site-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const pages = (buildSite as (folder: string) => string[])(folder)
const htmlOf = (source: string) =>
  (markdownPage as (source: string, linkOf: (target: string) => string) => { html: string })(source, (to) => `~${to}`)
    .html

const rows: readonly (readonly [source: string, html: string])[] = [
  ['# A `b` & c', '<h1 id="a-b--c">A <code>b</code> &amp; c</h1>'],
  ['## Same\n\n## Same', '<h2 id="same">Same</h2>\n<h2 id="same-1">Same</h2>'],
  ['one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>'],
  ['a <script>x</script> "q"', '<p>a &lt;script&gt;x&lt;/script&gt; &quot;q&quot;</p>'],
  ['```sh\na <b>\n\n  c\n```', '<pre><code>a &lt;b&gt;\n\n  c\n</code></pre>'],
  ['**bold** *leaning* `**code**`', '<p><strong>bold</strong> <em>leaning</em> <code>**code**</code></p>'],
  ['2 * 3 * 4', '<p>2 * 3 * 4</p>'],
  ['[text](to.md#a) ![alt](x.svg)', '<p><a href="~to.md#a">text</a> <img src="~x.svg" alt="alt"></p>'],
  ['[`code`](x.md)', '<p><a href="~x.md"><code>code</code></a></p>'],
  ['<https://a.example>', '<p><a href="https://a.example">https://a.example</a></p>'],
  ['- a\n- b\n  more\n  - c', '<ul><li>a</li>\n<li>b\nmore\n<ul><li>c</li></ul></li></ul>'],
  ['1. a\n\n   ```\n   x\n   ```\n2. b', '<ol><li>a\n<pre><code>x\n</code></pre></li>\n<li>b</li></ol>'],
  ['> a\n> b', '<blockquote><p>a\nb</p></blockquote>'],
  [
    '| a | b |\n|---|---|\n| `x|y` | 1 \\| 2 |',
    '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td>1 | 2</td></tr></tbody></table>',
  ],
]
for (const [source, html] of rows) test(JSON.stringify(source), () => equal(htmlOf(source), html))

test('every link of every page leads to a file of the site, and to a section that exists', () => {
  const contents = new Map(pages.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
  const dead: string[] = []
  for (const [path, html] of contents)
    for (const [, target = ''] of html.matchAll(/(?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? path : normalize(join(dirname(path), file))
      if (!existsSync(join(folder, to)) || !statSync(join(folder, to)).isFile()) dead.push(`${path}: ${target}`)
      else if (anchor !== undefined && contents.get(to)?.includes(`id="${anchor}"`) !== true)
        dead.push(`${path}: ${target}`)
    }
  deepEqual(dead, [])
  ok(pages.length > 80)
})

test('pages load nothing from elsewhere', () => {
  for (const path of pages)
    equal(/<(?:script|img|link)[^>]+(?:src|href)="[a-z]+:/.test(readFileSync(join(folder, path), 'utf8')), false, path)
})

test('the search finds sections in the index that pages load', () => {
  const page = { siteSections: [] as Section[] }
  const element = { addEventListener: () => {} }
  const document = { getElementById: () => element, body: { dataset: { root: '' } } }
  vm.runInNewContext(readFileSync(join(folder, 'search.js'), 'utf8'), { window: page, document })
  const search = (query: string) =>
    (searchSections as (sections: readonly Section[], query: string) => Section[])(page.siteSections, query)
  const [first] = search('test with envtest')
  deepEqual([first?.path, first?.page], ['docs/envtest.html', 'Test with envtest'])
  ok(
    search('KUBEBUILDER_ASSETS').some(({ path }) => path === 'docs/envtest.html'),
    'text of code blocks',
  )
  deepEqual(search('no-such-word-anywhere'), [])
  deepEqual(search(' '), [])
  match(search('snapshots')[0]?.title ?? '', /snapshots/i)
})
