// Twelve tasks on the web page, done by a user who starts at the overview of a cluster. Each has the number of clicks and keystrokes that it
// takes; docs/web-ui.md has the same numbers.
import { deepEqual, equal, match } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { Browser, Locator, Page } from 'playwright-core'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { node, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openSession, type OpenPage } from './chromium.ts'
import { until } from '../until.ts'

let browser: Browser
let cluster: TestCluster

const spec = (name: string, image: string, more: object = {}) => ({
  selector: { matchLabels: { app: name } },
  template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image, ...more }] } },
})
const workload = (name: string, image: string, replicas: number, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'default' },
  spec: { replicas, ...spec(name, image, more) },
})
const image = (text: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: text }] } } } })

before(async () => {
  await buildPage()
  cluster = await startCluster({
    nodes: 2,
    https: true,
    simulation: { images: { broken: { exitCode: 1, log: ['cannot reach the database'] } } },
  })
  const ports = [{ containerPort: 80 }]
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'token', namespace: 'default' }, data: { a: 'YQ==' } },
    workload('web', 'nginx:1', 1, { ports, envFrom: [{ secretRef: { name: 'token' } }] }),
    workload('api', 'broken', 1),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'closed', namespace: 'default' },
      spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'] },
    },
  ])
  await cluster.clock.advance('20s')
  await cluster.client.of(deployment).patch('web', 'default', image('nginx:2'))
  await cluster.clock.advance('20s')
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'lonely' }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }, 'default')
  await cluster.clock.advance('5s')
  await cluster.client.of(pod).delete('lonely', 'default', { gracePeriodSeconds: 0 })
  await cluster.clock.advance('5s')
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

/** A user whose clicks and keystrokes are counted. A key with modifiers is one keystroke. */
class Hand {
  clicks = 0
  keys = 0
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  async click(target: Locator): Promise<void> {
    this.clicks++
    await target.click()
  }

  async press(key: string): Promise<void> {
    this.keys++
    await this.page.keyboard.press(key)
  }

  async type(text: string): Promise<void> {
    this.keys += text.length
    await this.page.keyboard.type(text)
  }
}

interface Task {
  readonly name: string
  readonly clicks: number
  readonly keys: number
  readonly run: (hand: Hand) => Promise<void>
}

const tab = ({ page }: Hand, name: string) => page.getByRole('tab', { name, exact: true })
const article = ({ page }: Hand) => page.getByRole('article')
const problemLink = ({ page }: Hand) => page.locator('[data-problem="deployment/api"]').getByRole('link')
const dialog = ({ page }: Hand) => page.getByRole('dialog')
const kind = ({ page }: Hand, label: string) =>
  page.getByRole('navigation', { name: 'Navigation' }).getByRole('link', { name: new RegExp(`^${label}\\b`) })
const row = ({ page }: Hand, name: string | RegExp) =>
  page.locator('.rows').getByRole('button', { name, exact: true }).first()
const imagesOf = async (name: string) =>
  (await cluster.client.of(deployment).get(name, 'default')).spec.template.spec?.containers.map((each) => each.image) ??
  []

const tasks: readonly Task[] = [
  {
    name: 'find what is broken',
    clicks: 0,
    keys: 0,
    run: ({ page }) => page.locator('[data-problem="deployment/api"]').waitFor(),
  },
  {
    name: 'why it is broken',
    clicks: 0,
    keys: 0,
    run: ({ page }) => page.locator('[data-problem]').getByText('It last exited with code 1').waitFor(),
  },
  {
    name: 'see its log',
    clicks: 2,
    keys: 0,
    run: async (hand) => {
      await hand.click(problemLink(hand))
      await hand.click(tab(hand, 'Logs'))
      await hand.page.getByRole('log').getByText('cannot reach the database').waitFor()
    },
  },
  {
    name: 'fix its image',
    clicks: 7,
    keys: 5,
    run: async (hand) => {
      const { page } = hand
      await hand.click(problemLink(hand))
      await hand.click(tab(hand, 'Edit'))
      // A double click selects the word.
      hand.clicks += 2
      await page.locator('.cm-line', { hasText: 'image:' }).getByText('broken').dblclick()
      await hand.type('nginx')
      await hand.click(page.getByRole('button', { name: 'Show changes', exact: true }))
      // Another manager owns the field.
      await hand.click(page.getByRole('button', { name: 'Show changes with these fields taken over' }))
      await page.locator('.diff .added', { hasText: 'nginx' }).waitFor()
      await hand.click(page.getByRole('button', { name: 'Apply', exact: true }))
      await page.getByText('The change is applied.').waitFor()
      equal((await imagesOf('api'))[0], 'nginx')
    },
  },
  {
    name: 'scale',
    clicks: 3,
    keys: 2,
    run: async (hand) => {
      await hand.click(kind(hand, 'Deployments'))
      await hand.click(row(hand, 'web'))
      await hand.click(article(hand).getByRole('button', { name: 'Scale' }))
      await dialog(hand).getByRole('spinbutton').selectText()
      await hand.type('3')
      await hand.press('Enter')
      await hand.page.getByText('Deployment web is scaled.').waitFor()
    },
  },
  {
    name: 'roll back',
    clicks: 4,
    keys: 0,
    run: async (hand) => {
      await hand.click(kind(hand, 'Deployments'))
      await hand.click(row(hand, 'web'))
      await hand.click(article(hand).getByRole('button', { name: 'Roll back' }))
      await dialog(hand).locator('.added', { hasText: 'nginx:1' }).waitFor()
      await hand.click(dialog(hand).getByRole('button', { name: 'Roll back' }))
      await hand.page.getByText('Deployment web is rolled back.').waitFor()
      equal((await imagesOf('web'))[0], 'nginx:1')
    },
  },
  {
    name: 'who deleted it',
    clicks: 0,
    keys: 0,
    run: ({ page }) => page.locator('[data-change]', { hasText: /test\s+deleted\s+Pod lonely/ }).waitFor(),
  },
  {
    name: 'what changed in the last five minutes',
    clicks: 0,
    keys: 0,
    run: ({ page }) =>
      page
        .locator('[data-change]', { hasText: /patched\s+Deployment web/ })
        .locator('.age', { hasText: /^\d+s ago$/ })
        .first()
        .waitFor(),
  },
  {
    name: 'which policy blocks',
    clicks: 4,
    keys: 12,
    run: async (hand) => {
      const { page } = hand
      await hand.click(kind(hand, 'Pods'))
      await hand.click(row(hand, /^api-/))
      await hand.click(tab(hand, 'Reach'))
      await hand.click(page.getByRole('textbox', { name: 'Does it reach' }))
      await hand.type('service/web')
      await hand.press('Enter')
      await page.getByRole('status').getByText('Blocked by network policies').waitFor()
      await page
        .getByRole('link', { name: /blocked by\s*closed/ })
        .first()
        .waitFor()
      deepEqual(await accessibilityFindingsEverywhere(page), [])
    },
  },
  {
    name: 'find the users of a Secret',
    clicks: 2,
    keys: 0,
    run: async (hand) => {
      await hand.click(kind(hand, 'Secrets'))
      await hand.click(row(hand, 'token'))
      await hand.page.getByRole('region', { name: 'Used by (1)' }).getByRole('link', { name: 'web' }).waitFor()
    },
  },
  {
    name: 'open a shell',
    clicks: 3,
    keys: 0,
    run: async (hand) => {
      await hand.click(kind(hand, 'Pods'))
      await hand.click(row(hand, /^web-/))
      await hand.click(tab(hand, 'Terminal'))
      await hand.page.locator('.xterm-rows').waitFor()
    },
  },
  {
    name: 'drain a node',
    clicks: 4,
    keys: 0,
    run: async (hand) => {
      await hand.click(kind(hand, 'Nodes'))
      await hand.click(row(hand, 'node-1'))
      await hand.click(article(hand).getByRole('button', { name: 'Drain' }))
      await hand.click(dialog(hand).getByRole('button', { name: 'Drain' }))
      await until(async () => (await cluster.client.of(node).get('node-1')).spec.unschedulable === true)
      await until(async () => {
        await cluster.clock.advance('10s')
        return hand.page.getByText('Node node-1 is drained.').isVisible()
      })
    },
  },
]

const logIn = (): Promise<OpenPage> => openSession(browser, cluster.kubeconfig)

for (const { name, clicks, keys, run } of tasks)
  test(`${name}: ${clicks} clicks, ${keys} keystrokes`, async () => {
    await using opened = await logIn()
    const hand = new Hand(opened.page)
    await run(hand)
    deepEqual([hand.clicks, hand.keys], [clicks, keys])
  })

test('the numbers in the documentation are these', async () => {
  const text = await readFile(new URL('../../docs/web-ui.md', import.meta.url), 'utf8')
  for (const { name, clicks, keys } of tasks)
    match(text, new RegExp(`^\\| ${name} \\| ${clicks} \\| ${keys} \\|$`, 'm'))
})
