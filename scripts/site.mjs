// node scripts/site.mjs [folder]: the documentation as a static site, in .cache/site by default. It needs no server and no
// network: pages link one another by relative paths, and the search index is a script.
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { escaped, markdownPage } from './site/markdown.mjs'
import { searchSections } from './site/search.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const patterns = ['*.md', 'docs/**/*.md', 'bench/results/*.md', 'examples/*/README.md']

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 0 1rem 4rem; }
header { display: flex; gap: 1rem; align-items: center; padding: 0.8rem 0; border-bottom: 1px solid var(--line); flex-wrap: wrap; }
header input { flex: 1; min-width: 12rem; font: inherit; padding: 0.3rem 0.6rem; }
pre { overflow-x: auto; background: var(--soft); padding: 0.8rem; } code { font-size: 0.9em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; } blockquote { border-left: 3px solid var(--line); margin: 0; padding-left: 1rem; }
#found:not(:empty) { border-bottom: 1px solid var(--line); }`

/** Runs in the page. */
const script = `${searchSections}
const found = document.getElementById('found')
const box = document.getElementById('search')
const base = document.body.dataset.root
box.addEventListener('input', () => {
  found.replaceChildren(...searchSections(window.siteSections, box.value).map((section) => {
    const row = document.createElement('p')
    const link = document.createElement('a')
    link.href = base + section.path + '#' + section.anchor
    link.textContent = section.page === section.title ? section.page : section.page + ': ' + section.title
    row.append(link)
    return row
  }))
})
`

/** README.md is the start of its folder. */
const pathOf = (page) => page.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')

/** Writes the site; returns the paths of its pages. */
export function buildSite(folder) {
  const pages = new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted())
  rmSync(folder, { recursive: true, force: true })
  const write = (path, content) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const sections = []
  for (const page of pages) {
    const path = pathOf(page)
    const up = relative(dirname(path), '.')
    const base = up === '' ? '' : `${up}/`
    const linkOf = (target) => linkFrom(page, target, pages, folder)
    const { html, title, sections: own } = markdownPage(readFileSync(join(root, page), 'utf8'), linkOf)
    sections.push(
      ...own.map(({ anchor, title: section, text }) => ({ path, page: title, anchor, title: section, text })),
    )
    write(path, document({ title, html, base }))
  }
  write('search.js', `window.siteSections = ${JSON.stringify(sections).replaceAll('<', String.raw`\u003c`)}\n${script}`)
  return [...pages].map(pathOf)
}

const document = ({ title, html, base }) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${style}</style></head>
<body data-root="${base}">
<header><a href="${base}index.html">Coxswain</a><a href="${base}docs/index.html">Documentation</a><a href="${base}CHANGELOG.html">Changelog</a><input id="search" type="search" placeholder="Search" aria-label="Search"></header>
<div id="found" role="status"></div>
<main>${html}</main>
<script src="${base}search.js"></script>
</body>
</html>
`

/** Links to pages lead to pages of the site. Other files of the repository are copied; folders have no page. */
function linkFrom(page, target, pages, folder) {
  if (/^[a-z]+:/i.test(target) || target.startsWith('#')) return target
  const [file, anchor] = target.split('#')
  const path = normalize(join(dirname(page), file)).replace(/\/$/, '')
  const suffix = anchor === undefined ? '' : `#${anchor}`
  const to = (other) => `${relative(dirname(pathOf(page)), other)}${suffix}`
  if (pages.has(path)) return to(pathOf(path))
  if (pages.has(join(path, 'README.md'))) return to(pathOf(join(path, 'README.md')))
  const source = join(root, path)
  if (!existsSync(source) || !statSync(source).isFile()) return to(path)
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  copyFileSync(source, join(folder, path))
  return to(path)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? join(root, '.cache', 'site'))
  if (process.argv[2] !== undefined && existsSync(folder)) throw new Error(`${folder} exists; name a new folder`)
  console.log(`${buildSite(folder).length} pages in ${folder}`)
}
