// Screenshots of the main views are compared with stored ones, which `npm run screenshots:record` writes. Both have the fonts
// that Debian installs with fontconfig, because other fonts break lines elsewhere.
import { ok } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { buildPage, openBrowser, openPage } from '../chromium.ts'
import { recordCluster } from '../recorded-cluster.ts'
import { differingShare, differingShareMax, reduced } from './compare.ts'
import { decodePng, encodePng, type Image } from './png.ts'

const stored = fileURLToPath(new URL('stored', import.meta.url))
const isRecording = process.env['RECORD_SCREENSHOTS'] !== undefined

const fonts = `:root, button, select, input { font-family: 'DejaVu Sans' !important }
  pre, textarea { font-family: 'DejaVu Sans Mono' !important }`

/** The fragment of each view, and an element that it shows when it is complete. */
const views = {
  flows: ['flows?object=deployments/default/web', '[data-event]'],
  map: ['map', '[data-pod="big"]'],
  objects: ['objects', 'tr[data-name="big"]'],
  object: ['objects?object=pods/default/big', '.why'],
  scheduling: ['objects?object=pods/default/big&tab=Scheduling', '.scheduling tbody tr'],
} as const
type View = keyof typeof views

let browser: Browser
let folder: string
let url: string

before(async () => {
  await buildPage()
  folder = await mkdtemp(join(tmpdir(), 'coxswain-screenshots-'))
  const file = join(folder, 'report.html')
  await recordCluster(file, 'rolls out')
  url = pathToFileURL(file).href
  browser = await openBrowser()
  if (isRecording) await mkdir(stored, { recursive: true })
})

after(async () => {
  await browser.close()
  await rm(folder, { recursive: true })
})

/** The view as it is drawn, at the resolution of the stored screenshots. */
async function shot(page: Page, view: View, style = ''): Promise<Image> {
  const [fragment, element] = views[view]
  await page.goto('about:blank')
  await page.goto(`${url}#${fragment}`)
  await page.addStyleTag({ content: `${fonts}\n${style}` })
  await page.locator(element).first().waitFor()
  return reduced(decodePng(await page.screenshot({ animations: 'disabled', caret: 'hide' })))
}

const fileOf = (view: View, name: string): string => join(stored, `${view}-${name}.png`)

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1280, 390])
    test(`the main views in the ${colorScheme} theme at ${width} pixels`, async () => {
      await using opened = await openPage(browser, { colorScheme, viewport: { width, height: 800 }, bypassCSP: true })
      for (const view of Object.keys(views) as View[]) {
        const image = await shot(opened.page, view)
        const file = fileOf(view, `${colorScheme}-${width}`)
        if (isRecording) {
          await writeFile(file, encodePng(image))
          continue
        }
        const share = differingShare(decodePng(await readFile(file)), image)
        ok(share <= differingShareMax, `${view} differs in ${(share * 100).toFixed(1)} % of its cells from ${file}`)
      }
    })

/** While screenshots are recorded, there are none to compare with. */
const changes = isRecording
  ? []
  : ([
      ['a panel that has moved', 'map', {}, 'main { margin-left: 20px }'],
      ['a hidden panel', 'objects', {}, 'header { display: none !important }'],
      ['other colors', 'object', {}, ':root { --box: #ffd0d0 !important }'],
      ['the dark theme', 'flows', { colorScheme: 'dark' }, ''],
      ['another font', 'scheduling', {}, ":root, button { font-family: 'DejaVu Serif' !important }"],
    ] as const)

for (const [change, view, options, style] of changes)
  test(`${change} is a difference`, async () => {
    await using opened = await openPage(browser, { colorScheme: 'light', bypassCSP: true, ...options })
    const share = differingShare(
      decodePng(await readFile(fileOf(view, 'light-1280'))),
      await shot(opened.page, view, style),
    )
    ok(share > differingShareMax, `${share}`)
  })
