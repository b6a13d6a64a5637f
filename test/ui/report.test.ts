// The web page over a recorded run: the report of a test, opened from its file. Every view is exercised, since the page is the
// same as that of a running cluster.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { after, before, suite, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { startCluster } from '../../src/cluster/testing/start-cluster.ts'
import { accessibilityFindings, accessibilityFindingsEverywhere, buildPage, openBrowser, openPage } from './chromium.ts'
import { hostile, recordCluster } from './recorded-cluster.ts'
import { decodePng } from './screenshots/png.ts'

let browser: Browser
let folder: string
let url: string

before(async () => {
  await buildPage()
  folder = await mkdtemp(join(tmpdir(), 'coxswain-report-'))
  const file = join(folder, 'nested', 'failed.html')
  await recordCluster(file, `report of ${hostile}`)
  ok((await stat(file)).size < 3_000_000)
  url = pathToFileURL(file).href
  browser = await openBrowser()
})

after(async () => {
  await browser.close()
  await rm(folder, { recursive: true })
})

suite('flows', () => {
  test('the diagram of an object, its messages, and their causes and effects', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#flows?object=deployments/default/web`)
    await page.getByText('create pods web').first().waitFor()
    const lifelines = await page.locator('.diagram .box text').allTextContents()
    deepEqual(lifelines.slice(0, 4), ['test', 'API Server', 'Store', 'controller/deployment'])
    await page.locator('[data-event] .m', { hasText: 'ADDED deployments web' }).first().hover()
    const card = page.locator('[data-card]')
    await card.getByText('ADDED deployments web', { exact: true }).waitFor()
    await page.locator('[data-event] .m', { hasText: 'ADDED deployments web' }).first().click()
    await card.getByRole('button', { name: /^Cause: API Server → Store: put deployment web/ }).click()
    await card.getByRole('heading', { name: /put deployment web @/ }).waitFor()
    match(page.url(), /event=\d+/)
    await card
      .getByRole('button', { name: /^Effect: .*ADDED deployments web/ })
      .first()
      .click()
    await card.getByRole('heading', { name: /ADDED deployments web/ }).waitFor()
  })

  test('the card of a message is closed with the mouse, also on a narrow screen', async () => {
    await using opened = await openPage(browser, { viewport: { width: 390, height: 800 } })
    const { page } = opened
    await page.goto(`${url}#flows?object=deployments/default/web`)
    await page.locator('[data-event] .m', { hasText: 'put deployment web' }).first().click()
    await page.locator('[data-card]').getByRole('button', { name: 'Close' }).click()
    await page.locator('[data-card]').waitFor({ state: 'detached' })
    match(page.url(), /#flows\?object=deployments%2Fdefault%2Fweb$/)
  })

  test('a request shows its requester, its filters and the rule that allowed it', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#flows?object=deployments/default/web`)
    await page.locator('[data-event] .m', { hasText: 'patch deployments web' }).first().click()
    const text = await page.locator('[data-card]').innerText()
    for (const part of ['Request filters', 'authorization', 'from', 'test', 'allowed by']) ok(text.includes(part), part)
  })

  test('similar messages expand and fold, and the link shows exactly this', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#flows?object=deployments/default/web`)
    const created = page.locator('[data-event]', { hasText: 'create pods web' })
    await created.first().waitFor()
    equal(await created.count(), 1)
    await created.first().click()
    await created.first().click()
    await page.waitForFunction(() => location.hash.includes('expanded='))
    equal(await created.count(), 3)
    const link = page.url()
    await page.goto('about:blank')
    await page.goto(link)
    await created.first().waitFor()
    equal(await created.count(), 3)
  })

  test('failures are red and have their reason in words', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#flows?object=pods/default/big`)
    const failed = page.locator('.failure .m', { hasText: '409' })
    await failed.first().waitFor()
    ok((await page.locator('.failure').allTextContents()).join(' ').replaceAll(/\s+/g, ' ').includes('exists already'))
    await page.locator('.reconcile.failure', { hasText: 'Insufficient cpu' }).first().waitFor()
    equal(await failed.first().evaluate((element) => getComputedStyle(element).fill), 'rgb(193, 18, 31)')
  })

  test('the keyboard moves between messages and their causes', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#flows?object=deployments/default/web`)
    await page.locator('[data-event]').first().waitFor()
    await page.locator('.diagram').focus()
    await page.keyboard.press('ArrowDown')
    await page.locator('[data-card] h3', { hasText: 'patch deployments web' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.locator('[data-card] h3', { hasText: 'put deployment web' }).waitFor()
    await page.keyboard.press('c')
    await page.locator('[data-card] h3', { hasText: 'patch deployments web' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('[data-card]').waitFor({ state: 'detached' })
  })

  test('the diagram is copied as Mermaid and as SVG, and saved as PNG; the link shows exactly this view', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#flows?object=deployments/default/web`)
    await page.locator('[data-event] .m', { hasText: 'put deployment web' }).first().click()
    const copied = async (name: string, notice: string): Promise<string> => {
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByText(notice).waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    const mermaid = await copied('Mermaid', 'The Mermaid text is in the clipboard.')
    match(mermaid, /^sequenceDiagram\n/)
    match(mermaid, /API Server.*[\s\S]*put deployment web @\d+/)

    const svg = await copied('SVG', 'The SVG text is in the clipboard.')
    const link = await copied('Link', 'The link is in the clipboard.')
    match(link, /#flows\?object=deployments%2Fdefault%2Fweb&event=\d+$/)
    await page.goto('about:blank')
    const drawn = await page.evaluate((text) => {
      const parsed = new DOMParser().parseFromString(text, 'image/svg+xml')
      const texts = [...parsed.querySelectorAll('.box text')].map(({ textContent }) => textContent)
      return { root: parsed.documentElement.nodeName, title: parsed.querySelector('title')?.textContent, texts }
    }, svg)
    deepEqual(
      { ...drawn, texts: drawn.texts.slice(0, 3) },
      {
        root: 'svg',
        title: 'Flow of deployments web',
        texts: ['test', 'API Server', 'Store'],
      },
    )
    await page.goto(link)
    await page.locator('[data-card] h3', { hasText: 'put deployment web' }).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'PNG' }).click()
    const saved = await download
    equal(saved.suggestedFilename(), 'flow-of-deployments-web.png')
    const { width, height, rgb } = decodePng(await readFile(await saved.path()))
    deepEqual([...rgb.subarray(0, 3)], [255, 255, 255])
    ok(width > 500 && height > 200, `${width}×${height}`)
  })
})

suite('time', () => {
  test('the history of an object has its revisions with authors and differences', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#objects?resource=deployments.apps&object=deployments/default/web&tab=History`)
    const revisions = page.locator('.revision')
    await revisions.nth(2).waitFor()
    match(await revisions.last().innerText(), /^revision \d+, [\d-]+T[\d:.]+Z, by test$/m)
    match(await revisions.first().innerText(), /by controller\/deployment/)
    await revisions.first().locator('.diff .added', { hasText: 'availableReplicas: 3' }).waitFor()
  })

  test('the history of a pod that was deleted is there, and the slider shows the pod', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#objects?object=pods/default/short&tab=History`)
    await page.getByText('This object does not exist.').waitFor()
    await page.locator('summary', { hasText: ': deleted' }).waitFor()
    equal(await page.locator('tr[data-name="short"]').count(), 0)
    const slider = page.getByRole('slider')
    await slider.focus()
    await page.keyboard.press('Home')
    await page.getByText(/^revision \d+/).waitFor()
    equal(await page.locator('tbody tr[data-name]').count(), 0)
    const created = (await page.locator('summary').last().innerText()).replace(/^revision (\d+).*/, '$1')
    await page.evaluate(
      (revision) => (location.hash = location.hash.replace(/revision=\d+/, `revision=${revision}`)),
      created,
    )
    await page.locator('tr[data-name="short"]', { hasText: 'Pending' }).waitFor()
    await page.getByRole('tab', { name: 'YAML' }).click()
    await page.locator('pre.yaml', { hasText: 'name: short' }).waitFor()
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.locator('tr[data-name="short"]', { hasText: /ContainerCreating|Running/ }).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    match(page.url(), /revision=\d+/)
    await page.getByRole('button', { name: 'Now' }).click()
    await page.getByText('now', { exact: true }).waitFor()
  })

  test('changes are marks on the slider; two moments are compared, and the link shows the comparison', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#objects`)
    await page.locator('.marks path title', { hasText: /^test \w+ deployments web$/ }).waitFor({ state: 'attached' })
    await page.getByRole('slider').focus()
    await page.keyboard.press('Home')
    await page.getByRole('button', { name: 'Compare with the present' }).click()
    const compared = page.locator('[data-compared]')
    await page.getByRole('status').getByText('4 added').waitFor()
    await compared.filter({ hasText: 'added: default/big' }).locator('summary').click()
    await page.locator('.diff .added', { hasText: 'name: big' }).waitFor()
    deepEqual(await accessibilityFindings(page), [])
    const link = page.url()
    match(link, /compared=\d+/)
    await page.goto('about:blank')
    await page.goto(link)
    await compared.first().waitFor()
    await page
      .getByRole('navigation', { name: 'Navigation' })
      .getByRole('link', { name: /^Deployments/ })
      .click()
    await compared.filter({ hasText: 'added: default/web' }).waitFor()
    await page.getByRole('button', { name: 'Close the comparison' }).click()
    await page.locator('tr[data-name="web"]').waitFor()
  })

  test('pointing at a write shows what it changed', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#flows?object=deployments/default/web`)
    await page.locator('[data-event] .m', { hasText: 'put deployment web' }).first().hover()
    await page.locator('[data-card] .diff .added', { hasText: 'replicas: 3' }).first().waitFor()
  })
})

suite('objects', () => {
  test("the list has kubectl's columns and is searched by name, label, image and reason", async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#objects`)
    await page.locator('tr[data-name="big"]').waitFor()
    deepEqual(await page.locator('.rows th button').allTextContents(), [
      'Namespace',
      'Name',
      'Ready',
      'Status',
      'Restarts',
      'Age',
      'Node',
      'Owner',
    ])
    for (const [words, count] of [
      ['web', 3],
      ['nginx:1.27', 4],
      ['app=web', 3],
      ['unschedulable', 1],
      ['none-such', 0],
    ] as const) {
      await page.getByRole('searchbox').fill(words)
      await page.getByText(`${count} of 4`).waitFor()
    }
  })

  test('an unhealthy object is explained at the top; its scheduling is a table', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#objects`)
    await page.getByRole('button', { name: 'big' }).click()
    await page.getByRole('note').getByText('It cannot be scheduled').waitFor()
    await page.getByRole('tab', { name: 'Scheduling' }).click()
    equal(await page.locator('.scheduling tbody tr').count(), 2)
    await page.getByText('On 2 nodes this would have to change: Insufficient cpu (NodeResourcesFit)').waitFor()
    await page.getByRole('tab', { name: 'Summary' }).click()
    await page.getByText('PodScheduled').waitFor()
    await page.getByRole('tab', { name: 'Events' }).click()
    await page.getByText('FailedScheduling').first().waitFor()
  })

  test('names, annotations and titles are text, never markup', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#objects?object=pods/default/big&tab=YAML`)
    await page.locator('pre.yaml', { hasText: 'onerror' }).waitFor()
    equal(await page.locator('h1').textContent(), `report of ${hostile}`)
    equal(await page.locator('img').count(), 0)
    equal(await page.title(), 'Coxswain report')
  })

  test('relations are a picture of owned objects, whose boxes are links', async () => {
    await using opened = await openPage(browser)
    const { page } = opened
    await page.goto(`${url}#objects?resource=deployments.apps&object=deployments/default/web&tab=Relations`)
    const boxes = page.locator('[data-relation]')
    await boxes.nth(4).waitFor()
    const texts = await boxes.evaluateAll((all) => all.map((box) => box.getAttribute('data-relation') ?? ''))
    deepEqual(
      texts.map((text) => text.replace(/-\w+(-\w+)?$/, '')),
      ['Deployment web', 'ReplicaSet, owned web', ...Array.from({ length: 3 }, () => 'Pod, owned, ready web')],
    )
    equal(await page.locator('.relations path').count(), 4)
    await page.getByRole('link', { name: /ReplicaSet, owned web/ }).click()
    await page.getByRole('heading', { name: /^ReplicaSet web-/ }).waitFor()
    await page.getByRole('link', { name: /Deployment, owner web/ }).waitFor()
  })
})

test('the map shows components and rates; a box filters the diagram', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#map`)
  await page.locator('[data-box="scheduler"]').click()
  await page.locator('select[aria-label="Actor"] option[value="scheduler"]:checked').waitFor({ state: 'attached' })
  const texts = await page.locator('.diagram .box text').allTextContents()
  ok(texts.includes('scheduler') && !texts.includes('kubelet/node-0'), texts.join())
})

test('the map shows one node with its pods, whose links lead to the objects', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#map`)
  const chooser = page.getByRole('combobox', { name: 'Node' })
  await page.locator('[data-box="kubelet/node-1"]').waitFor()
  await chooser.selectOption('node-0')
  await page.locator('[data-box="kubelet/node-1"]').waitFor({ state: 'detached' })
  await page.locator('[data-box="kubelet/node-0"]').waitFor()
  const pods = page.getByRole('group', { name: 'Pods of node-0' })
  equal(await pods.locator('tbody tr').count(), await page.locator('[data-pod]').count())
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  // The link has the node.
  await page.reload()
  equal(await chooser.inputValue(), 'node-0')
  await pods.getByRole('link', { name: 'what leads to it' }).first().click()
  await page.getByRole('tab', { name: 'Relations', selected: true }).waitFor()
  await page.goBack()
  await chooser.selectOption('all')
  await page.locator('[data-box="kubelet/node-1"]').waitFor()
})

test('the map fits on a narrow screen, and changes its layout with the size of the window', async () => {
  await using opened = await openPage(browser, { viewport: { width: 390, height: 800 } })
  const { page } = opened
  await page.goto(`${url}#map`)
  await page.locator('[data-pod]').first().waitFor()
  const sizes = () =>
    page.locator('.map .scroll').evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))
  const { scrollWidth, clientWidth } = await sizes()
  ok(scrollWidth <= clientWidth, `${scrollWidth} in ${clientWidth}`)
  await page.locator('[data-line="API Server>scheduler"]').focus()
  await page.keyboard.press('ArrowRight')
  equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'scheduler')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.waitForFunction(() => Number(document.querySelector('.map svg')?.getAttribute('width')) > 900)
})

test('the keyboard moves on the map: nodes, their pods and lines have names', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#map`)
  const focused = (): Promise<string | null> =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
  await page.locator('[data-box="API Server"]').focus()
  await page.keyboard.press('ArrowRight')
  match((await focused()) ?? '', /^API Server and node-0: /)
  await page.keyboard.press('ArrowRight')
  match((await focused()) ?? '', /^node-0: \d pods?$/)
  await page.keyboard.press('ArrowDown')
  match((await focused()) ?? '', /^default\/web-\w+-\w+: ready$/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /^Flow of pods web-/ }).waitFor()
  await page.goto('about:blank')
  await page.goto(`${url}#map`)
  await page.locator('[data-line="API Server>scheduler"]').focus()
  await page.keyboard.press('Space')
  await page
    .locator('select[aria-label="Actor"] option:checked', { hasText: 'API Server ↔ scheduler' })
    .waitFor({ state: 'attached' })
})

test('the keyboard alone leads to an object, its tabs and the time', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(`${url}#flows`)
  await page.locator('[data-event]').first().waitFor()
  /** Presses a key until an element with this name has the focus. */
  const reach = async (name: RegExp, key = 'Tab'): Promise<void> => {
    for (let presses = 0; presses < 60; presses++) {
      const focused = await page.evaluate(() => {
        const { activeElement: element } = document
        const label = element?.closest('label')?.textContent ?? ''
        return element?.getAttribute('aria-label') ?? `${label}${element?.textContent ?? ''}`.trim()
      })
      if (name.test(focused)) return
      await page.keyboard.press(key)
    }
    throw new Error(`${name} is not reached with ${key}`)
  }
  await reach(/^Skip the navigation$/)
  await page.keyboard.press('Enter')
  equal(await page.evaluate(() => document.activeElement?.localName), 'main')
  await page.evaluate(() => document.querySelector<HTMLElement>('.navigation a')?.focus())
  await reach(/^Pods/)
  await page.keyboard.press('Enter')
  await page.locator('tr[data-name="big"]').waitFor()
  // The navigation is long, so a key leads to the search, and a button past the navigation.
  await page.keyboard.press('/')
  await reach(/^Search by /)
  await page.keyboard.type('big')
  await page.locator('tbody tr[data-name]').nth(1).waitFor({ state: 'detached' })
  await reach(/^big$/)
  await page.keyboard.press('Enter')
  await reach(/^Summary$/)
  await reach(/^Scheduling$/, 'ArrowRight')
  await page.locator('.scheduling tbody tr').first().waitFor()
  await reach(/^Time/)
  await page.keyboard.press('Home')
  await page.getByText(/^revision \d+/).waitFor()
  await reach(/^Now$/)
  await page.keyboard.press('Space')
  await page.getByText('now', { exact: true }).waitFor()
})

test('axe reports no findings in any view, in both themes, at 1280 and at 390 pixels', async () => {
  await using opened = await openPage(browser)
  const { page } = opened
  const tabs = ['Summary', 'YAML', 'History', 'Relations', 'Events', 'Scheduling']
  await page.goto(url)
  for (const [view, shown] of [
    ['flows', '[data-event]'],
    ['flows?object=deployments/default/web&event=1', '[data-event]'],
    ['map', '[data-pod]'],
    ['objects?resource=deployments.apps', 'tr[data-name="web"]'],
    ...tabs.map((tab) => [`objects?object=pods/default/big&tab=${tab}`, '.tab *'] as const),
  ] as const) {
    await page.evaluate((fragment) => (location.hash = fragment), view)
    await page.locator(shown).first().waitFor()
    if (view.includes('event=')) await page.locator('[data-event] .m').first().click()
    deepEqual(await accessibilityFindingsEverywhere(page), [], view)
  }
})

test('an error of many lines is folded to its first one and leaves the space to the view', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const file = join(folder, 'long.html')
  const lines = ['Expected values to be strictly deep-equal:', ...Array.from({ length: 80 }, (_, n) => `+ line ${n}`)]
  await cluster.report(file, 'a test', lines.join('\n'))
  await using opened = await openPage(browser, { viewport: { width: 1280, height: 800 } })
  const { page } = opened
  await page.goto(`${pathToFileURL(file).href}#flows`)
  const summary = page.locator('.long-notice summary')
  await summary.waitFor()
  equal(await summary.innerText(), lines[0])
  const heightOf = async (selector: string) => (await page.locator(selector).boundingBox())?.height ?? 0
  /** The distance of the text from the left edge of the content. */
  const indentOf = (selector: string) =>
    page.locator(selector).evaluate((element) => {
      const text = document.createRange()
      text.selectNodeContents(element)
      return text.getBoundingClientRect().left - (element.closest('.content')?.getBoundingClientRect().left ?? 0)
    })
  ok((await heightOf('main')) > 600, 'folded')
  ok((await heightOf('.diagram')) > 550, 'folded')
  ok((await indentOf('.long-notice summary')) < 40)
  await summary.click()
  const whole = page.locator('.long-notice pre')
  equal(await whole.textContent(), lines.join('\n'))
  ok((await indentOf('.long-notice pre')) < 40)
  ok((await heightOf('main')) > 350, 'unfolded')
  ok((await heightOf('.diagram')) > 300, 'unfolded')
})
