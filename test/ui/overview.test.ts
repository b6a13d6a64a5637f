// The overview of a running cluster: health, problems with the commands that fix them, capacity and recent changes; and what a user
// sees of it who may read one namespace only.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { logIn as logInClient, type Browser as Client } from './browser.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openSession, type OpenPage } from './chromium.ts'
import { tokenOfReader } from './reader.ts'

let browser: Browser
let cluster: TestCluster
let admin: Client

const workload = (image: string) => ({
  replicas: 2,
  selector: { matchLabels: { app: 'a' } },
  template: {
    metadata: { labels: { app: 'a' } },
    spec: { containers: [{ name: 'c', image, resources: { requests: { cpu: '1' } } }] },
  },
})

before(async () => {
  await buildPage()
  cluster = await startCluster({ nodes: 1, https: true, simulation: { images: { gone: 'missing' } } })
  await cluster.clock.advance('5s')
  admin = await logInClient(cluster.kubeconfig)
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

const logIn = (): Promise<OpenPage> => openSession(browser, cluster.kubeconfig)

test('an empty cluster shows how to begin; then what runs, and who has started it', async () => {
  await using opened = await logIn()
  const { page } = opened
  match(page.url(), /\/ui\/(?:#overview)?$/)
  await page.getByText('kubectl create deployment web --image=nginx').waitFor()
  await page.getByText(/No problem found\. Checked: \d+ objects\./).waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await cluster.client.of(deployment).create({ metadata: { name: 'web' }, spec: workload('nginx') })
  await page.locator('[data-change]', { hasText: /test\s+created\s+Deployment web\s+in default/ }).waitFor()
  await cluster.clock.advance('10s')
  await page.getByRole('link', { name: /^Deployments\s+1\s+all are well$/ }).waitFor()
  await page.getByRole('img', { name: /^CPU: 2 CPUs of 8 CPUs requested/ }).waitFor()
  await page.getByRole('img', { name: /^Pods: 2 pods of 110 pods taken/ }).waitFor()
  equal(await page.getByText('kubectl create deployment web --image=nginx').count(), 0)
})

test('problems are ranked, explained as by `coxswain why`, and have the command that fixes them', async () => {
  await using opened = await logIn()
  const { page } = opened
  const resources = { requests: { cpu: '64' } }
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'big' }, spec: { containers: [{ name: 'c', image: 'nginx', resources }] } })
  await cluster.clock.advance('10s')
  const problem = page.locator('[data-problem="pod/big"]')
  await problem.getByText(/It cannot be scheduled: Unschedulable/).waitFor()
  await page.getByRole('link', { name: /^Pods\s+2 of 3\s+1 not$/ }).waitFor()
  const fix = (await problem.locator('.fix code').first().innerText()).trim()
  match(fix, /^kubectl /)
  await problem
    .getByRole('button', { name: /^Copy the command/ })
    .first()
    .click()
  await page.getByText('The command is in the clipboard.').waitFor()
  equal(await page.evaluate(() => navigator.clipboard.readText()), fix)
  const { body } = await admin.call('GET', '/ui/api/problems?namespace=')
  deepEqual(
    await page.locator('[data-problem]').evaluateAll((all) => all.map((each) => each.getAttribute('data-problem'))),
    body.problems.map(({ object }: { object: string }) => object),
  )
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await problem.getByRole('link', { name: 'Pod big' }).click()
  await page.getByRole('heading', { name: 'Pod big' }).waitFor()
})

test('a change leads to its messages', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.locator('[data-change]', { hasText: 'Deployment web' }).getByRole('link', { name: /ago$/ }).first().click()
  await page.getByRole('heading', { name: 'Flow of deployments web' }).waitFor()
  match(page.url(), /event=\d+/)
})

test('a user who may read one namespace sees what is wrong in it, and nothing of others', async () => {
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }])
  const token = await tokenOfReader(cluster, 'shop')
  const resources = { requests: { cpu: '64' } }
  const spec = { containers: [{ name: 'c', image: 'nginx', resources }] }
  await cluster.client.of(pod).create({ metadata: { name: 'own' }, spec }, 'shop')
  await cluster.clock.advance('10s')
  await using opened = await openSession(browser, cluster.kubeconfig, { token })
  const { page } = opened
  await page.getByText(/Not checked, because you may not read them: .*pods/).waitFor()
  equal(await page.locator('[data-problem]').count(), 0)
  await page.goto(`${cluster.url}/ui/#overview?namespace=shop`)
  await page.locator('[data-problem="pod/own"]').waitFor()
  await page.getByRole('link', { name: /^Pods\s+0 of 1\s+1 not$/ }).waitFor()
  await page.locator('[data-change]', { hasText: 'Pod own' }).waitFor()
  const text = await page.locator('body').innerText()
  for (const hidden of ['big', 'Deployment web', 'node-0']) ok(!text.includes(hidden), hidden)
})
