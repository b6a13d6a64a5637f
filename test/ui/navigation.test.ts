// The navigation of the web page: kinds with counts, custom resources, the namespace, the search, breadcrumbs, the user and logout; and
// what a user sees who may read one namespace only.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openSession, type OpenPage } from './chromium.ts'
import { tokenOfReader } from './reader.ts'

let browser: Browser
let cluster: TestCluster

const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }]
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: columns,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}
const podSpec = { containers: [{ name: 'c', image: 'nginx' }] }
const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

before(async () => {
  await buildPage()
  cluster = await startCluster({ nodes: 1, https: true, crds: [definition] })
  await cluster.apply([namespace('shop'), namespace('hidden')])
  await cluster.clock.advance('5s')
  await cluster.apply({
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'large', namespace: 'shop' },
    spec: { size: 42 },
  })
  for (const [name, each] of [
    ['web', 'shop'],
    ['secret-web', 'hidden'],
  ] as const)
    await cluster.client.of(pod).create({ metadata: { name }, spec: podSpec }, each)
  await cluster.clock.advance('5s')
  browser = await openBrowser()
})

after(async () => {
  await browser.close()
  await cluster.stop()
})

const logIn = (): Promise<OpenPage> => openSession(browser, cluster.kubeconfig)
async function openSearch(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.locator('.palette input:focus').waitFor()
}
const row = (page: Page, name: string) => page.locator(`tr[data-name="${name}"]`)

test('kinds are listed by topic with the number of their objects, which follows changes', async () => {
  await using opened = await logIn()
  const { page } = opened
  const workloads = page.locator('details', { has: page.locator('summary', { hasText: 'Workloads' }) })
  await workloads.getByRole('link', { name: 'Pods 2', exact: true }).waitFor()
  await workloads.getByRole('link', { name: 'Deployments 0', exact: true }).waitFor()
  await cluster.client.of(pod).create({ metadata: { name: 'third' }, spec: podSpec }, 'default')
  await workloads.getByRole('link', { name: 'Pods 3', exact: true }).waitFor()
  await cluster.client.of(pod).delete('third', 'default', { gracePeriodSeconds: 0 })
  await workloads.getByRole('link', { name: 'Pods 2', exact: true }).waitFor()
})

test('custom resources are listed by group, with their printer columns', async () => {
  await using opened = await logIn()
  const { page } = opened
  const section = page.locator('details', { has: page.locator('summary', { hasText: 'example.com' }) })
  await section.getByRole('link', { name: 'Widgets 1', exact: true }).click()
  await row(page, 'large').getByRole('cell', { name: '42', exact: true }).waitFor()
  ok((await page.locator('.rows th button').allTextContents()).includes('Size'))
  match(page.url(), /#objects\?resource=widgets\.example\.com$/)
})

test('the namespace filters lists, counts and links; Back leads to where the user was', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.getByRole('link', { name: 'Pods 2', exact: true }).click()
  await row(page, 'secret-web').waitFor()
  await page.keyboard.press('n')
  const field = page.getByRole('combobox', { name: 'Choose the namespace' })
  await field.fill('sho')
  await page.locator('[data-choice="namespace/shop"]').waitFor()
  await page.keyboard.press('Enter')
  await row(page, 'secret-web').waitFor({ state: 'detached' })
  await row(page, 'web').waitFor()
  await page.getByRole('link', { name: 'Pods 1', exact: true }).waitFor()
  match(page.url(), /#objects\?namespace=shop$/)
  await page.getByRole('link', { name: 'Flows', exact: true }).click()
  match(page.url(), /#flows\?namespace=shop$/)
  await page.locator('[data-event] .m', { hasText: 'pods web' }).first().waitFor()
  equal(await page.locator('[data-event] .m', { hasText: 'secret-web' }).count(), 0)
  await page.goBack()
  await row(page, 'web').waitFor()
  await page.goBack()
  await row(page, 'secret-web').waitFor()
  await page.getByRole('button', { name: 'All namespaces' }).waitFor()
})

test('Ctrl-K finds objects, kinds and actions; breadcrumbs lead back', async () => {
  await using opened = await logIn()
  const { page } = opened
  await openSearch(page)
  await page.keyboard.type('large')
  await page.locator('[data-choice="object/widgets.example.com/shop/large"]').waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Widget large' }).waitFor()
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumbs' })
  deepEqual(
    (await crumbs.getByRole('listitem').allInnerTexts()).map((text) => text.trim()),
    ['Widgets', 'shop', 'large'],
  )
  await crumbs.getByRole('link', { name: 'Widgets' }).click()
  await page.getByRole('heading', { name: 'Widget large' }).waitFor({ state: 'detached' })

  await openSearch(page)
  await page.keyboard.type('daemons')
  await page.getByRole('option', { name: /^DaemonSets/ }).waitFor()
  await page.keyboard.press('Enter')
  match(page.url(), /resource=daemonsets\.apps/)
  await openSearch(page)
  await page.keyboard.type('help')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Help' }).waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test('the header names the cluster and the user; after the logout the page says how to open a session', async () => {
  await using opened = await logIn()
  const { page } = opened
  const header = page.getByRole('banner')
  await header.getByText('Coxswain', { exact: true }).waitFor()
  await header.getByRole('heading', { name: new URL(cluster.url).host }).waitFor()
  await header.locator('.user', { hasText: /\S/ }).waitFor()
  await header.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'You are not logged in' }).waitFor()
  await page.getByText('You have logged out.').waitFor()
  await page.reload()
  await page.getByText('There is no session, or it has ended.').waitFor()
})

test('on a narrow screen a button shows the navigation, and a choice closes it', async () => {
  await using opened = await openSession(browser, cluster.kubeconfig, { viewport: { width: 390, height: 800 } })
  const { page } = opened
  const navigation = page.getByRole('navigation', { name: 'Navigation' })
  equal(await navigation.count(), 0)
  await page.getByRole('button', { name: 'Navigation', exact: true }).click()
  await navigation.getByRole('link', { name: /^Services/ }).click()
  await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('Services').waitFor()
  equal(await navigation.count(), 0)
})

test('a user who may read one namespace sees nothing of others, and errors beside their cause', async () => {
  await using opened = await openSession(browser, cluster.kubeconfig, { token: await tokenOfReader(cluster, 'shop') })
  const { page } = opened
  await page.locator('.user', { hasText: 'system:serviceaccount:shop:reader' }).waitFor()
  await page.locator('.navigation').getByRole('link', { name: /^Pods/ }).click()
  await page.locator('.list .problem', { hasText: /cannot list resource "pods"/ }).waitFor()
  await page.keyboard.press('n')
  await page.getByRole('alert').getByText('You may not list namespaces. Type the name of one.').waitFor()
  await page.keyboard.type('shop')
  await page.locator('[data-choice="namespace/shop"]').waitFor()
  await page.keyboard.press('Enter')
  await row(page, 'web').waitFor()
  equal(await page.locator('.list .problem').count(), 0)
  await page.getByRole('link', { name: 'Pods 1', exact: true }).waitFor()
  await page.goto(`${cluster.url}/ui/#flows`)
  await page.locator('[data-event] .m', { hasText: 'pods web' }).first().waitFor()
  await openSearch(page)
  await page.keyboard.type('web')
  await page.locator('[data-choice="object/pods/shop/web"]').waitFor()
  const text = await page.evaluate(() => document.documentElement.outerHTML)
  equal(text.includes('secret-web') || text.includes('hidden/'), false)
})
