// Bundles the web page: `node scripts/bundle-page.mjs <directory>`. The files have names with a hash of their content, except
// index.html, and report.html, which contains everything in one file and gets the record of a test. Compressed forms are beside the
// files, so that a server does not compress them when the page is first opened.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = (path) => join(root, 'src', 'ui', 'page', path)

const common = { cwd: root, input: { app: page('main.ts') }, platform: 'browser', logLevel: 'warn' }
const output = {
  format: 'esm',
  minify: true,
  comments: false,
  entryFileNames: '[name]-[hash].js',
  chunkFileNames: '[name]-[hash].js',
}

/**
 * Replaces the folder. Tests that run at the same time may build it too, so it is complete at any time. Returns the files of
 * packages that are part of the page.
 */
export async function bundlePage(target) {
  const folder = `${target}.${process.pid}`
  mkdirSync(folder, { recursive: true })
  const modules = await writePage(folder)
  rmSync(`${folder}.old`, { recursive: true, force: true })
  if (existsSync(target)) renameSync(target, `${folder}.old`)
  renameSync(folder, target)
  rmSync(`${folder}.old`, { recursive: true, force: true })
  return modules
}

const xtermStyle = join(root, 'node_modules', '@xterm', 'xterm', 'css', 'xterm.css')

async function writePage(folder) {
  const css = `${minified(readFileSync(page('style.css'), 'utf8'))}\n`
  const xtermCss = minified(readFileSync(xtermStyle, 'utf8'))
  const style = `style-${hashOf(css + xtermCss, 'hex').slice(0, 8)}.css`
  writeFileSync(join(folder, style), css + xtermCss)
  const built = await build({ ...common, output: { ...output, dir: folder } })
  const script = built.output.find(({ isEntry }) => isEntry).fileName
  const index = readFileSync(page('index.html'), 'utf8').replace('{{style}}', style).replace('{{script}}', script)
  writeFileSync(join(folder, 'index.html'), index)
  compress(folder)
  writeFileSync(join(folder, 'report.html'), await reportText(css))
  return [...built.output.flatMap(({ moduleIds = [] }) => moduleIds), xtermStyle]
}

function compress(folder) {
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params: brotliParams }))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 9 }

/** One file without requests: the script and the style are allowed by their hashes. A report has no terminal and no editor. */
async function reportText(css) {
  const {
    output: [{ code }],
  } = await build({
    ...common,
    external: [/\/(?:manifests|terminal|yaml-editor)\.ts$/],
    write: false,
    output: { ...output, format: 'esm' },
  })
  const script = code.replaceAll('</script', '<\\/script')
  const policy = `default-src 'none'; script-src 'sha256-${hashOf(script)}'; style-src 'sha256-${hashOf(css)}'; img-src data: blob:; base-uri 'none'; form-action 'none'`
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">',
    `<title>Coxswain report</title><link rel="icon" href="data:,"><style>${css}</style></head>`,
    '<body><div id="page"></div><script type="application/json" id="recorded-run">{{run}}</script>',
    `<script type="module">${script}</script></body></html>\n`,
  ].join('\n')
}

const hashOf = (text, encoding = 'base64') => createHash('sha256').update(text).digest(encoding)

/** Without comments and line breaks. */
const minified = (css) => css.replaceAll(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '').replaceAll(/\s+/g, ' ')

if (process.argv[1] === fileURLToPath(import.meta.url))
  await bundlePage(resolve(process.argv[2] ?? join(root, 'dist', 'ui')))
