// The web page on http://localhost in a real browser: no certificate, one use of a link, and what a page without a
// session says.
import { deepEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { openLocalUi, type LocalUi } from '../../src/cluster/ui/local-ui.ts'
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openPage } from './chromium.ts'

let browser: Browser
let cluster: TestCluster
let local: LocalUi

before(async () => {
  await buildPage()
  cluster = await startCluster({ nodes: 1, https: true })
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }, 'default')
  await cluster.clock.advance('5s')
  local = await openLocalUi(cluster.kubeconfig, 0, new AbortController().signal)
  browser = await openBrowser()
})

after(async () => {
  await browser.close()
  await local[Symbol.asyncDispose]()
  await cluster.stop()
})

test('a link opens the page once; flows, lists and changes work', async () => {
  const link = local.link()
  await using opened = await openPage(browser)
  const { page } = opened
  await page.goto(link)
  await page.getByRole('link', { name: 'Flows', exact: true }).click()
  await page.locator('[data-event]').first().waitFor()
  await page.goto(`${new URL(link).origin}/ui/#objects?resource=pods`)
  await page.getByRole('cell', { name: 'web', exact: true }).waitFor()
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'later' }, spec: { containers: [{ name: 'c', image: 'x' }] } })
  await page.getByRole('cell', { name: 'later', exact: true }).waitFor()

  await using another = await openPage(browser)
  await another.page.goto(link)
  await another.page.getByRole('heading', { name: 'You are not logged in' }).waitFor()
  await another.page.getByText('has been used already').waitFor()
  deepEqual(await accessibilityFindingsEverywhere(another.page), [])
})

test('without a session the page says how to open one', async () => {
  await using opened = await openPage(browser)
  await opened.page.goto(new URL('/', local.link()).href)
  await opened.page.getByRole('heading', { name: 'You are not logged in' }).waitFor()
  await opened.page.getByText('coxswain ui', { exact: true }).waitFor()
})

test('without a session the page of the API server says the same', async () => {
  await using opened = await openPage(browser, { ignoreHTTPSErrors: true })
  await opened.page.goto(`${cluster.url}/ui/`)
  await opened.page.getByRole('heading', { name: 'You are not logged in' }).waitFor()
})
