// The web page of `coxswain ui` for a cluster whose API server has no web UI. A proxy hides everything that upstream's does not have; the test
// fails if the page asks for it.
import { deepEqual, equal, match } from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { parse } from 'yaml'
import { openLocalUi, type LocalUi } from '../../src/cluster/ui/local-ui.ts'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import { startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { accessibilityFindings, buildPage, openBrowser, openPage } from './chromium.ts'

let browser: Browser
let cluster: TestCluster
let proxy: Server
let local: LocalUi
const asked: string[] = []
const hostile = '<img src=x onerror="document.title=1">'

/** Forwards requests with the certificate of the kubeconfig, except those of paths that only Coxswain has. */
function upstreamOf(kubeconfig: string): Server {
  const { clusters, users } = parse(kubeconfig)
  const { server, 'certificate-authority-data': ca } = clusters[0].cluster
  const { 'client-certificate-data': cert, 'client-key-data': key } = users[0].user
  const tls = Object.fromEntries(
    Object.entries({ ca, cert, key }).map(([name, text]) => [name, Buffer.from(String(text), 'base64')]),
  )
  return createServer((received, response) => {
    const { url = '', method, headers } = received
    if (/^\/(?:ui|coxswain)\b/.test(url)) {
      asked.push(url)
      response.writeHead(404).end()
      return
    }
    const sent = request(new URL(url, server), { ...tls, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    sent.on('error', () => response.destroy())
    response.on('close', () => sent.destroy())
    received.pipe(sent)
  })
}

before(async () => {
  await buildPage()
  cluster = await startCluster({
    nodes: 1,
    https: true,
    simulation: { images: { crash: { exitCode: 1, log: ['no database', hostile] } } },
  })
  const template = { metadata: { labels: { app: 'api' } }, spec: { containers: [{ name: 'c', image: 'crash' }] } }
  await cluster.client
    .of(deployment)
    .create({ metadata: { name: 'api' }, spec: { replicas: 1, selector: { matchLabels: { app: 'api' } }, template } })
  await cluster.clock.advance('60s')
  proxy = upstreamOf(cluster.kubeconfig)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const kubeconfig = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  })
  local = await openLocalUi(kubeconfig, 0, new AbortController().signal)
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await local?.[Symbol.asyncDispose]()
  proxy?.closeAllConnections()
  proxy?.close()
  await cluster?.stop()
})

test('overview, lists, explanation, summary, logs, search, changes and map of a cluster without flows', async () => {
  equal(local.isUpstream, true)
  await using opened = await openPage(browser)
  const { page } = opened
  const link = local.link()
  const { origin } = new URL(link)
  await page.goto(link)
  const problem = page.locator('[data-problem="deployment/api"]')
  await problem.getByText('CrashLoopBackOff').waitFor()
  await problem.getByText(hostile).waitFor()
  await page.getByText('The API server of this cluster does not record who changes what.').waitFor()
  await page.getByText('CPUs requested').waitFor()
  deepEqual(await accessibilityFindings(page), [])

  await page.keyboard.press('Control+k')
  await page.keyboard.type('api')
  await page.getByRole('option', { name: /^api-/ }).first().click()
  await page.getByRole('note').getByText('CrashLoopBackOff').waitFor()
  await page.getByRole('region', { name: 'Containers (1)' }).getByText('Error, exit code 1').waitFor()
  await page.getByRole('tab', { name: 'Logs' }).click()
  await page.getByRole('log').getByText(hostile).waitFor()

  await page.goto(`${origin}/ui/#objects?resource=deployments.apps&object=deployments/default/api`)
  await page.getByRole('article').getByRole('button', { name: 'Scale' }).click()
  await page.getByRole('spinbutton', { name: 'Replicas' }).fill('2')
  await page.keyboard.press('Enter')
  await page.getByText('Deployment api is scaled.').waitFor()
  await page.locator('tr[data-name="api"]', { hasText: '0/2' }).waitFor()

  await page.goto(`${origin}/ui/#flows`)
  await page.getByText('The API server of this cluster records no flows.').waitFor()
  await page.goto(`${origin}/ui/#map`)
  await page.locator('.pod.failing').first().waitFor()
  equal(await page.getByRole('slider').count(), 0)
  equal(await page.getByRole('alert').count(), 0)
  equal(await page.locator('#page img').count(), 0)
  equal(await page.title(), 'Coxswain')
})

test('without a session nothing of the cluster is shown; the page asks the server for nothing that only Coxswain has', async () => {
  const { origin } = new URL(local.link())
  for (const path of ['problems', 'overview', 'search?text=api', 'stream'])
    equal((await fetch(`${origin}/ui/api/${path}`)).status, 401, path)
  equal((await fetch(`${origin}/ui/`)).status, 200)
  match((await fetch(`${origin}/ui/`)).headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  equal((await fetch(`${origin}/ui/..%2fconfig`)).status, 401)
  deepEqual(
    asked.filter((path) => !path.startsWith('/coxswain/v1/') && path !== '/ui/'),
    [],
  )
})
