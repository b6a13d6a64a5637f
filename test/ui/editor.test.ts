// The editor of YAML in a browser: completion, descriptions and marks from the cluster's OpenAPI, conflicts at their fields, the keyboard,
// custom resources, and texts from the cluster that contain markup.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { until } from '../until.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openSession, type OpenPage } from './chromium.ts'
import { editorOf, editorText, fillEditor, replaceInEditor } from './editor.ts'

const hostile = `"></div><img src=x onerror="document.title='hostile'"><script>document.title='hostile'</script>`

let browser: Browser
let cluster: TestCluster

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  color: { type: 'string', enum: ['red', 'green', hostile], description: `The color. ${hostile}` },
                  size: { type: 'integer', description: 'How large it is.' },
                  [hostile]: { type: 'string', description: 'A field with markup in its name.' },
                },
              },
            },
          },
        },
      },
    ],
  },
}

before(async () => {
  await buildPage()
  cluster = await startCluster({ nodes: 1, https: true })
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'nginx' }] } }
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template }
  await cluster.apply([
    widgets,
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default' }, spec },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'long', namespace: 'default' },
      data: Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`key-${String(at).padStart(2, '0')}`, 'red'])),
    },
  ])
  await cluster.apply([
    {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'one', namespace: 'default' },
      spec: { color: 'red' },
    },
  ])
  await cluster.clock.advance('10s')
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

const editorPage = async (resource: string, name: string): Promise<OpenPage> => {
  const opened = await openSession(browser, cluster.kubeconfig)
  const [plural = ''] = resource.split('.')
  await opened.page.goto(`${cluster.url}/ui/#objects?resource=${resource}&object=${plural}/default/${name}&tab=Edit`)
  await editorOf(opened.page).locator('.cm-line', { hasText: 'apiVersion' }).first().waitFor()
  return opened
}
const web = (): Promise<OpenPage> => editorPage('deployments.apps', 'web')

const option = (page: Page, label: string) => page.getByRole('option').filter({ hasText: label })
/** The marked texts; each is marked in one piece or in several. */
const marked = async (page: Page): Promise<string> =>
  (await editorOf(page).locator('.cm-lintRange-error').allTextContents()).join('')
const head = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  namespace: default\n'

test('fields and their values are completed; lines have numbers', async () => {
  await using opened = await web()
  const { page } = opened
  equal(await editorOf(page).getAttribute('aria-multiline'), 'true')
  // A key that follows the list within its first moments is not for it.
  await until(async () => {
    await fillEditor(page, `${head}spec:\n  `)
    await page.keyboard.type('sel')
    await option(page, 'selector').waitFor()
    match((await option(page, 'selector').textContent()) ?? '', /object, required/)
    await page.getByText('Selects the pods by label').waitFor()
    await page.keyboard.press('Enter')
    return /\n {2}selector:\n {4}$/.test(await editorText(page))
  })
  await until(async () => {
    await fillEditor(page, `${head}spec:\n  strategy:\n    type: `)
    await page.keyboard.press('Control+Space')
    await option(page, 'Recreate').waitFor()
    await page.keyboard.type('Rec')
    await page.keyboard.press('Enter')
    return (await editorText(page)).endsWith('type: Recreate')
  })
  await page.keyboard.press('Control+z')
  equal((await editorText(page)).endsWith('Recreate'), false)
  equal(await page.locator('.cm-lineNumbers .cm-gutterElement', { hasText: /^8$/ }).count(), 1)
})

test('pointing at a field shows its type and description', async () => {
  await using opened = await web()
  const { page } = opened
  const field = editorOf(page).getByText('replicas', { exact: true })
  await field.hover()
  const tooltip = page.locator('.cm-field')
  await tooltip.getByText('How many pods should run').waitFor()
  match((await tooltip.textContent()) ?? '', /^replicasinteger/)
})

test('unknown fields, wrong types and errors of the syntax are marked', async () => {
  await using opened = await web()
  const { page } = opened
  await replaceInEditor(page, 'replicas: 1', 'replicaz: 1')
  await editorOf(page).locator('.cm-lintRange-error', { hasText: 'replicaz' }).waitFor()
  equal(await marked(page), 'replicaz')
  await editorOf(page).locator('.cm-lintRange-error').hover()
  await page.locator('.cm-diagnostic', { hasText: 'there is no field "replicaz"' }).waitFor()
  await replaceInEditor(page, 'replicaz: 1', 'replicas: many')
  await editorOf(page).locator('.cm-lintRange-error', { hasText: 'many' }).waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await replaceInEditor(page, 'replicas: many', 'replicas: [1')
  await page.locator('.cm-lint-marker-error').first().waitFor()
})

test('a field that the server rejects is marked, and what it says is listed', async () => {
  await using opened = await web()
  const { page } = opened
  await replaceInEditor(page, 'replicas: 1', 'replicas: 1\n  minReadySeconds: -1')
  await page.getByRole('button', { name: 'Show changes' }).click()
  await page.locator('.tab .problem', { hasText: 'spec.minReadySeconds' }).waitFor()
  await editorOf(page).locator('.cm-lintRange-error', { hasText: 'minReadySeconds' }).waitFor()
  equal(await marked(page), 'minReadySeconds')
  await fillEditor(page, head)
  await editorOf(page).locator('.cm-lintRange-error', { hasText: 'minReadySeconds' }).waitFor({ state: 'detached' })
})

test('a conflict is marked at its field, which is scrolled to, and listed', async () => {
  await using opened = await editorPage('configmaps', 'long')
  const { page } = opened
  const start = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: long\n  namespace: default\ndata:\n'
  const keys = Array.from(
    { length: 80 },
    (_, at) => `  key-${String(at).padStart(2, '0')}: ${at === 5 ? 'blue' : 'red'}`,
  )
  await fillEditor(page, `${start}${keys.join('\n')}\n`)
  await page.getByRole('button', { name: 'Show changes' }).click()
  const conflict = page.getByRole('alert')
  await conflict.getByText('.data.key-05').waitFor()
  const field = editorOf(page).locator('.cm-lintRange-error')
  await field.waitFor()
  equal(await marked(page), 'key-05')
  const [fieldBox, editorBox] = [await field.boundingBox(), await page.locator('.editor').boundingBox()]
  ok(fieldBox !== null && editorBox !== null)
  ok(fieldBox.y > editorBox.y && fieldBox.y < editorBox.y + editorBox.height, JSON.stringify([fieldBox, editorBox]))
  await field.hover()
  await page.locator('.cm-diagnostic', { hasText: /^\.data\.key-05: conflict with "/ }).waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
})

test('the keyboard alone completes, indents, moves to a mark, searches, and leaves the editor', async () => {
  await using opened = await web()
  const { page } = opened
  await editorOf(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.type('kind: ')
  await option(page, 'Deployment').first().waitFor()
  await page.keyboard.press('Tab')
  equal(await editorText(page), '  kind: ')
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(`${head}spec:\n  replicas: many`)
  await editorOf(page).locator('.cm-lintRange-error', { hasText: 'many' }).waitFor()
  // The next one is the first again.
  await page.keyboard.press('F8')
  await page.locator('.cm-diagnostic', { hasText: 'the field "selector" is missing' }).waitFor()
  await page.keyboard.press('F8')
  await page.locator('.cm-diagnostic', { hasText: 'must be integer, not string' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+f')
  await page.getByRole('textbox', { name: 'Find' }).waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Find' }).waitFor({ state: 'detached' })
  // The page's own keys are text here.
  await page.keyboard.type('?n/')
  equal(await page.getByRole('dialog').count(), 0)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  equal(await page.getByRole('button', { name: 'Show changes' }).evaluate((button) => button.matches(':focus')), true)
})

test('a custom resource has its own schema, and markup in it is text', async () => {
  await using opened = await editorPage('widgets.example.com', 'one')
  const { page } = opened
  await editorOf(page).getByText('color', { exact: true }).hover()
  await page.locator('.cm-field', { hasText: `The color. ${hostile}` }).waitFor()
  const widget = 'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: one\n  namespace: default\nspec:\n'
  await fillEditor(page, `${widget}  color: `)
  await page.keyboard.press('Control+Space')
  await option(page, 'green').waitFor()
  await option(page, hostile).waitFor()
  await fillEditor(page, `${widget}  `)
  await page.keyboard.press('Control+Space')
  await option(page, 'size').waitFor()
  deepEqual((await page.getByRole('option').locator('.cm-completionLabel').allTextContents()).toSorted(), [
    hostile,
    'color',
    'size',
  ])
  await option(page, hostile).click()
  match(await editorText(page), /spec:\n {2}"\\"><\/div><img/)
  await fillEditor(page, `${widget}  ${JSON.stringify(`other ${hostile}`)}: 1\n  color: wrong`)
  await page.locator('.cm-lint-marker-error').first().hover()
  await page.locator('.cm-diagnostic', { hasText: 'onerror' }).first().waitFor()
  equal(await page.title(), 'Coxswain')
  equal(
    await page.locator('.editor').evaluate((host) => host.shadowRoot?.querySelectorAll('img, script, style').length),
    0,
  )
})
