// One object on the web page of a running cluster: its summary by kind with links to what belongs to it, its events with times, and the logs
// of its containers.
import { deepEqual, equal, match } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { node, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import {
  accessibilityFindings,
  accessibilityFindingsEverywhere,
  buildPage,
  openBrowser,
  openSession,
  type OpenPage,
} from './chromium.ts'

let browser: Browser
let cluster: TestCluster
const hostileLog = '<img src=x onerror="document.title=1">'

const workload = (kind: string, name: string, spec: object, containers: readonly object[]) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'default' },
  spec: {
    ...spec,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers } },
  },
})

before(async () => {
  await buildPage()
  const crash = { exitCode: 1, log: ['cannot reach the database', hostileLog] }
  const talks = { log: ['hello', 'listening on port 80'] }
  cluster = await startCluster({
    nodes: 1,
    https: true,
    simulation: { images: { crash, talks, helper: { log: ['helping'] } } },
  })
  const uses = { envFrom: [{ secretRef: { name: 'token' } }] }
  const ports = [{ containerPort: 80 }]
  const resources = { requests: { cpu: '500m', memory: '256Mi' } }
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'token', namespace: 'default' }, data: { password: 'YWJj' } },
    workload('Deployment', 'web', { replicas: 2 }, [
      { name: 'c', image: 'talks', ports, resources, ...uses },
      { name: 'side', image: 'helper' },
    ]),
    workload('Deployment', 'api', { replicas: 1 }, [{ name: 'c', image: 'crash' }]),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    },
  ])
  await cluster.clock.advance('60s')
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

const logIn = (): Promise<OpenPage> => openSession(browser, cluster.kubeconfig)
const show = (page: Page, resource: string, name: string, more = '', namespace = 'default'): Promise<unknown> =>
  page.goto(
    `${cluster.url}/ui/#objects?resource=${resource}&object=${resource.split('.')[0]}/${namespace}/${name}${more}`,
  )
const fact = (page: Page, label: string) =>
  page.locator('.facts div', { has: page.locator('dt', { hasText: new RegExp(`^${label}$`) }) }).locator('dd')
const related = (page: Page, title: RegExp) => page.getByRole('region', { name: title })

test('a Deployment shows its rollout, pods and ReplicaSets, and follows them', async () => {
  await using opened = await logIn()
  const { page } = opened
  await show(page, 'deployments.apps', 'web')
  await fact(page, 'Replicas').getByText('2 of 2 ready').waitFor()
  await fact(page, 'Rollout').getByText('complete').waitFor()
  const pods = related(page, /^Pods \(2\)$/)
  await pods.getByText('Running').first().waitFor()
  await related(page, /^ReplicaSets \(1\)$/)
    .getByText('talks')
    .waitFor()
  await related(page, /^Conditions$/)
    .getByText('MinimumReplicasAvailable')
    .waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await cluster.client.of(deployment).patch('web', 'default', { spec: { paused: true, replicas: 3 } }, 'merge')
  await fact(page, 'Rollout').getByText('paused').waitFor()
  await cluster.clock.advance('20s')
  await related(page, /^Pods \(3\)$/).waitFor()
  await cluster.client.of(deployment).patch('web', 'default', { spec: { paused: false, replicas: 2 } }, 'merge')
  await fact(page, 'Rollout').getByText('complete').waitFor()
  await pods.waitFor()
  await pods.getByRole('link', { name: /^web-/ }).first().click()
  await page.getByRole('heading', { name: /^Pod web-/ }).waitFor()
})

test('a pod shows its containers and what it uses, a Secret what uses it, a Service its endpoints, a node its pods', async () => {
  await using opened = await logIn()
  const { page } = opened
  await show(page, 'deployments.apps', 'api')
  await related(page, /^Pods \(1\)$/)
    .getByRole('link', { name: /^api-/ })
    .click()
  await related(page, /^Containers \(1\)$/)
    .getByText('CrashLoopBackOff')
    .waitFor()
  await related(page, /^Containers/)
    .getByText('Error, exit code 1')
    .waitFor()

  await show(page, 'secrets', 'token')
  await related(page, /^Used by \(1\)$/)
    .getByRole('link', { name: 'web' })
    .waitFor()
  await related(page, /^Keys \(1\)$/)
    .getByText('3 bytes')
    .waitFor()
  equal(await page.getByText('YWJj').count(), 0)

  await show(page, 'services', 'web')
  const endpoints = related(page, /^Endpoints \(2\)$/)
  await endpoints.getByRole('link', { name: /^web-/ }).first().waitFor()
  equal(await endpoints.getByText('ready', { exact: true }).count(), 2)

  await show(page, 'nodes', 'node-0', '', '')
  await fact(page, 'Pressure').getByText('none').waitFor()
  await fact(page, 'CPU').getByText('1 CPUs of 8 CPUs requested').waitFor()
  await related(page, /^Pods \(3\)$/).waitFor()
  const condition = { type: 'MemoryPressure', status: 'True', reason: 'Test', message: '', lastTransitionTime: null }
  await cluster.client
    .of(node)
    .patch('node-0', '', { status: { conditions: [condition] } }, 'strategic', undefined, 'status')
  await fact(page, 'Pressure').getByText('MemoryPressure').waitFor()
})

test('events have times and who has reported them', async () => {
  await using opened = await logIn()
  const { page } = opened
  const [{ metadata } = { metadata: { name: '' } }] = (await cluster.client.of(pod).list({ namespace: 'default' }))
    .items
  await show(page, 'pods', metadata.name, '&tab=Events')
  const row = page.getByRole('row', { name: /Scheduled/ })
  match(await row.locator('time').first().innerText(), /^\d+[smh]/)
  await row.getByText('default-scheduler').waitFor()
  deepEqual(await accessibilityFindings(page), [])
})

test('logs: of the run before the last restart, of several containers and pods by time, searched, saved', async () => {
  await using opened = await logIn()
  const { page } = opened
  await show(page, 'deployments.apps', 'web', '&tab=Logs')
  const log = page.getByRole('log')
  await log.getByText(/(?:\[web-\S+\] listening on port 80[^]*){2}/).waitFor()
  await page.getByRole('combobox', { name: 'Container' }).selectOption('all containers')
  await log.getByText(/\[web-\S+\/side\] helping/).waitFor()
  await page.getByRole('searchbox', { name: 'Search in the log' }).fill('HELLO')
  await page.getByText('2 of 6 lines').waitFor()
  equal(await log.locator('mark').first().innerText(), 'hello')
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  const link = page.url()
  match(link, /container=\*|container=%2A/)

  const chosen = page.getByRole('combobox', { name: 'Pod' })
  const name = (await chosen.locator('option').nth(1).textContent())?.trim() ?? ''
  await chosen.selectOption(name)
  await page.getByRole('searchbox', { name: 'Search in the log' }).fill('')
  await log.getByText(/\[side\] helping/).waitFor()
  await page.getByRole('combobox', { name: 'Container' }).selectOption('c')
  const downloading = page.waitForEvent('download')
  await page.getByText('2 lines', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Download' }).click()
  const download = await downloading
  equal(download.suggestedFilename(), 'web-c.log')
  equal(await readFile(await download.path(), 'utf8'), 'hello\nlistening on port 80\n')

  await show(page, 'deployments.apps', 'api', '&tab=Logs')
  await page.getByRole('checkbox', { name: 'before the last restart' }).check()
  await log.getByText(hostileLog).waitFor()
  equal(await page.locator('#page img').count(), 0)
})
