// Actions of the web page in a running cluster: scale, restart, delete with what follows, cordon, drain, suspend, several objects at once, logs at once; and
// that there are none in the past.
import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { statefulSet } from '../../src/api/apps/v1/stateful-set.ts'
import { podDisruptionBudget } from '../../src/api/policy/v1/pod-disruption-budget.ts'
import { node, pod, startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openSession, type OpenPage } from './chromium.ts'
import { tokenOfReader } from './reader.ts'

let browser: Browser
let cluster: TestCluster
/** A container writes this to its log. */
const hostileLog = '<img src=x onerror="document.title=1">'

before(async () => {
  await buildPage()
  cluster = await startCluster({
    nodes: 1,
    https: true,
    simulation: { images: { crash: { exitCode: 1, log: [hostileLog] } } },
  })
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  await cluster.client
    .of(deployment)
    .create({ metadata: { name: 'web' }, spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template } })
  await cluster.client
    .of(pod)
    .create({ metadata: { name: 'loud' }, spec: { containers: [{ name: 'c', image: 'crash' }] } }, 'default')
  await cluster.clock.advance('10s')
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

const logIn = (): Promise<OpenPage> => openSession(browser, cluster.kubeconfig)
const web = () => cluster.client.of(deployment).get('web', 'default')
const webLink = '#objects?resource=deployments.apps&object=deployments/default/web'
const object = (page: Page) => page.getByRole('article')

test('a Deployment is scaled; a wrong number is an error beside the field', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/${webLink}`)
  await object(page).getByRole('button', { name: 'Scale' }).click()
  const dialog = page.getByRole('dialog', { name: 'Scale Deployment web?' })
  const field = dialog.getByRole('spinbutton', { name: 'Replicas' })
  equal(await field.inputValue(), '1')
  await field.fill('')
  await dialog.getByRole('button', { name: 'Scale' }).click()
  await dialog.getByRole('alert').getByText('replicas: must be a whole number between 0 and 10000').waitFor()
  await field.fill('3')
  await dialog.getByText('kubectl scale deployments.apps/web --replicas=3 -n default').waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('Deployment web is scaled.').waitFor()
  equal((await web()).spec.replicas, 3)
  await dialog.waitFor({ state: 'detached' })
})

test('a restart replaces the pods of a workload', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/${webLink}`)
  await object(page).getByRole('button', { name: 'Restart' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
  await page.getByText('Deployment web restarts.').waitFor()
  match((await web()).spec.template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt'] ?? '', /^\d{4}-/)
})

test('a deletion shows what follows; Escape cancels it', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/${webLink}`)
  await object(page).getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete Deployment web?' })
  await dialog.getByText(/^Deleted with it: .* pods \(web-/).waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  equal((await web()).metadata.deletionTimestamp, undefined)
  // The dry run is no change.
  await page.goto(`${cluster.url}/ui/#overview`)
  await page.locator('[data-change]').first().waitFor()
  equal(await page.locator('[data-change]', { hasText: /deleted\s+Deployment web/ }).count(), 0)
})

test('several objects are selected and deleted together', async () => {
  const spec = { containers: [{ name: 'c', image: 'nginx' }] }
  for (const name of ['one', 'two', 'three'])
    await cluster.client.of(pod).create({ metadata: { name }, spec }, 'default')
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?search=default`)
  const all = page.getByRole('checkbox', { name: 'Select all' })
  await page.getByRole('checkbox', { name: 'Select one' }).waitFor()
  await all.check()
  await page.waitForFunction(() => document.querySelectorAll('tbody input:not(:checked)').length === 0)
  await all.uncheck()
  await page.waitForFunction(() => document.querySelectorAll('tbody input:checked').length === 0)
  await page.getByRole('checkbox', { name: 'Select one' }).check()
  await page.getByRole('checkbox', { name: 'Select two' }).check()
  const bar = page.getByRole('group', { name: 'Selected objects' })
  await bar.getByText('2 selected').waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await bar.getByRole('button', { name: 'Delete' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete 2 pods?' })
  deepEqual(await dialog.getByRole('listitem').allInnerTexts(), ['default/one', 'default/two'])
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('2 pods are being deleted.').waitFor()
  // They have no node yet, so they are deleted at once.
  const names = (await cluster.client.of(pod).list({ namespace: 'default' })).items.map(({ metadata }) => metadata.name)
  deepEqual(
    names.filter((name) => ['one', 'two', 'three'].includes(name)),
    ['three'],
  )
})

test('the log of a pod is shown at once, as text', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?object=pods/default/loud&tab=Logs`)
  await page.getByRole('log').getByText(hostileLog).first().waitFor()
  await page.goto(`${cluster.url}/ui/#overview`)
  await page.locator('[data-problem="pod/loud"]').getByText(hostileLog).waitFor()
  equal(await page.locator('img').count(), 0)
  equal(await page.title(), 'Coxswain')
})

test('a Deployment and a StatefulSet are rolled back to a chosen revision, whose difference is shown before', async () => {
  const image = (text: string) => ({ spec: { template: { spec: { containers: [{ name: 'c', image: text }] } } } })
  const selector = { matchLabels: { app: 'undo' } }
  const of = (kind: string) => ({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'undo', namespace: 'default' },
    spec: {
      replicas: 1,
      serviceName: kind === 'StatefulSet' ? 'undo' : undefined,
      selector,
      template: { metadata: { labels: selector.matchLabels }, ...image('nginx:1').spec.template },
    },
  })
  await cluster.apply([of('Deployment'), of('StatefulSet')])
  for (const version of ['nginx:2', 'nginx:3']) {
    await cluster.clock.advance('10s')
    await cluster.client.of(deployment).patch('undo', 'default', image(version))
    await cluster.client.of(statefulSet).patch('undo', 'default', image(version))
  }
  await cluster.clock.advance('10s')
  await using opened = await logIn()
  const { page } = opened
  for (const [kind, resource] of [
    ['Deployment', 'deployments'],
    ['StatefulSet', 'statefulsets'],
  ] as const) {
    await page.goto(`${cluster.url}/ui/#objects?resource=${resource}.apps&object=${resource}/default/undo`)
    await object(page).getByRole('button', { name: 'Roll back' }).click()
    const dialog = page.getByRole('dialog', { name: `Roll back ${kind} undo?` })
    await dialog.locator('.added', { hasText: 'image: "nginx:2"' }).waitFor()
    await dialog.getByRole('combobox', { name: 'Revision' }).selectOption('1')
    await dialog.locator('.added', { hasText: 'image: "nginx:1"' }).waitFor()
    const changes = await dialog.locator('.removed, .added').allInnerTexts()
    deepEqual(
      changes.map((line) => line.trim()),
      ['-   - image: "nginx:3"', '+   - image: "nginx:1"'],
    )
    await dialog.getByText(`kubectl rollout undo ${resource}.apps/undo --to-revision=1 -n default`).waitFor()
    if (kind === 'Deployment') deepEqual(await accessibilityFindingsEverywhere(page), [])
    await page.setViewportSize({ width: 1280, height: 800 })
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await page.getByText(`${kind} undo is rolled back.`).waitFor()
  }
  for (const { spec } of [
    await cluster.client.of(deployment).get('undo', 'default'),
    await cluster.client.of(statefulSet).get('undo', 'default'),
  ])
    equal(spec.template.spec?.containers[0]?.image, 'nginx:1')
})

test('a node is cordoned and uncordoned', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=nodes&object=nodes//node-0`)
  await object(page).getByRole('button', { name: 'Cordon', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Cordon Node node-0?' })
  await dialog.getByText('kubectl cordon node-0').waitFor()
  await dialog.getByRole('button', { name: 'Cordon' }).click()
  await page.getByText('Node node-0 is cordoned.').waitFor()
  equal((await cluster.client.of(node).get('node-0')).spec.unschedulable, true)
  await object(page).getByRole('button', { name: 'Uncordon' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Uncordon' }).click()
  await page.getByText('Node node-0 is uncordoned.').waitFor()
  equal((await cluster.client.of(node).get('node-0')).spec.unschedulable, undefined)
})

test('a drain respects budgets, names the pods that stay, shows its progress, and can be stopped', async () => {
  const template = { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  const selector = { matchLabels: { app: 'agent' } }
  const guarded = { matchLabels: { app: 'web' } }
  await cluster.apply([
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', namespace: 'default' },
      spec: { selector, template },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'guard', namespace: 'default' },
      spec: { maxUnavailable: 0, selector: guarded },
    },
  ])
  await cluster.clock.advance('20s')
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=nodes&object=nodes//node-0`)
  await object(page).getByRole('button', { name: 'Drain' }).click()
  const dialog = page.getByRole('dialog', { name: 'Drain Node node-0?' })
  await dialog.getByText(/^Stay, because a DaemonSet owns them: agent-/).waitFor()
  await dialog.getByText(/^Evicted as PodDisruptionBudgets allow: .*web-/).waitFor()
  await dialog.getByText('kubectl drain node-0 --ignore-daemonsets --delete-emptydir-data --force').waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await dialog.getByRole('button', { name: 'Drain' }).click()
  await dialog
    .getByText(/^web-\S+: Cannot evict pod as it would violate the pod's disruption budget/)
    .first()
    .waitFor()
  await dialog.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('The drain is stopped. Node node-0 stays cordoned.').waitFor()
  equal((await cluster.client.of(node).get('node-0')).spec.unschedulable, true)

  await cluster.client.of(podDisruptionBudget).delete('guard', 'default')
  await object(page).getByRole('button', { name: 'Drain' }).click()
  await dialog.getByRole('button', { name: 'Drain' }).click()
  // Pods end in the time of the cluster.
  await dialog
    .getByText(/: ends$/)
    .first()
    .waitFor()
  await cluster.clock.advance('60s')
  await page.getByText('Node node-0 is drained.').waitFor()
  const left = (await cluster.client.of(pod).list({ namespace: 'default' })).items.filter(
    ({ spec }) => spec.nodeName === 'node-0',
  )
  deepEqual(
    left.map(({ metadata }) => metadata.labels?.['app']),
    ['agent'],
  )
  await cluster.client.of(node).patch('node-0', '', { spec: { unschedulable: null } }, 'merge')
  await cluster.clock.advance('20s')
})

test('the command that forwards a port of a Service is copied', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=services&object=services/default/kubernetes`)
  await object(page).getByRole('button', { name: 'Port-forward' }).click()
  const dialog = page.getByRole('dialog', { name: 'Port-forward Service kubernetes?' })
  equal(await dialog.getByRole('spinbutton', { name: 'Port' }).inputValue(), '443')
  await dialog.getByRole('button', { name: 'Copy the command' }).click()
  await page.getByText('The command is in the clipboard.').waitFor()
  equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    'kubectl port-forward services/kubernetes :443 -n default',
  )
})

test('a CronJob is suspended and resumed', async () => {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] } }
  const metadata = { name: 'nightly', namespace: 'default' }
  const spec = { schedule: '0 0 * * *', jobTemplate: { spec: { template } } }
  await cluster.apply([{ apiVersion: 'batch/v1', kind: 'CronJob', metadata, spec }])
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=cronjobs.batch&object=cronjobs/default/nightly`)
  await object(page).getByRole('button', { name: 'Suspend' }).click()
  const dialog = page.getByRole('dialog', { name: 'Suspend CronJob nightly?' })
  await dialog.getByText('It creates no Jobs. Jobs that run continue.').waitFor()
  await dialog.getByRole('button', { name: 'Suspend' }).click()
  await page.getByText('CronJob nightly is suspended.').waitFor()
  await object(page).getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
  await page.getByText('CronJob nightly is resumed.').waitFor()
})

test('the past is marked with its date, and has no actions', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/${webLink}`)
  await object(page).getByRole('button', { name: 'Delete' }).waitFor()
  const slider = page.getByRole('slider')
  await slider.focus()
  await page.keyboard.press('ArrowLeft')
  const banner = page.locator('.past')
  const date = /The past: revision \d+ at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} UTC\.\s+Actions are off\./
  await page.locator('.past', { hasText: date }).waitFor()
  for (const name of ['Scale', 'Restart', 'Delete']) equal(await page.getByRole('button', { name }).count(), 0, name)
  for (const name of ['Edit', 'Logs']) equal(await page.getByRole('tab', { name }).count(), 0, name)
  equal(await page.getByRole('checkbox').count(), 0)
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.evaluate(() => (location.hash = location.hash.replace('#objects', '#overview')))
  await page.getByText('The overview shows the present.').waitFor()
  await banner.getByRole('button', { name: 'Return to the present' }).click()
  await banner.waitFor({ state: 'detached' })
  await page.locator('.tile').first().waitFor()
})

test('what a user may not do is said in the question', async () => {
  await cluster.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }])
  const token = await tokenOfReader(cluster, 'shop')
  const spec = { containers: [{ name: 'c', image: 'nginx' }] }
  await cluster.client.of(pod).create({ metadata: { name: 'own' }, spec }, 'shop')
  await using opened = await openSession(browser, cluster.kubeconfig, { token })
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?namespace=shop&object=pods/shop/own`)
  await object(page).getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('dialog')
    .getByRole('alert')
    .getByText(/cannot delete resource "pods"/)
    .waitFor()
})
