// Creating objects from forms and YAML in a browser: several documents, what is checked before, conflicts, links, and where it is not offered.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { configMap } from '../../src/api/core/v1/config-map.ts'
import { startCluster, type TestCluster } from '../../src/cluster/index.ts'
import { creationForms } from '../../src/ui/page/model/forms/creation-forms.ts'
import { accessibilityFindingsEverywhere, buildPage, openBrowser, openSession, type OpenPage } from './chromium.ts'
import { editorText, fillEditor, newObjectsEditor } from './editor.ts'

let browser: Browser
let cluster: TestCluster

before(async () => {
  await buildPage()
  cluster = await startCluster({ nodes: 1, https: true })
  browser = await openBrowser()
})

after(async () => {
  await browser?.close()
  await cluster?.stop()
})

const logIn = (): Promise<OpenPage> => openSession(browser, cluster.kubeconfig)
const configMapOf = (name: string) => cluster.client.of(configMap).get(name, 'default')
const results = (page: Page) => page.getByRole('status', { name: 'Results' }).getByRole('listitem')
const check = (page: Page) => page.getByRole('button', { name: 'Check' })
const create = (page: Page) => page.getByRole('article', { name: 'Create' }).getByRole('button', { name: 'Create' })

const manifest = (name: string, data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  color: ${data}\n`

test('two objects are checked, created, and linked', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=configmaps`)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const editor = newObjectsEditor(page)
  await editor.locator('.cm-line', { hasText: 'kind: ConfigMap' }).waitFor()
  equal(
    await editorText(page, editor),
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ""\n  namespace: default\n',
  )
  equal(await create(page).isDisabled(), true)
  await fillEditor(page, `${manifest('first', 'red')}---\n${manifest('second', 'blue')}`, editor)
  await check(page).click()
  await results(page).nth(1).waitFor()
  deepEqual(
    (await results(page).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim()),
    ['ConfigMap default/first would be created', 'ConfigMap default/second would be created'],
  )
  await rejects(configMapOf('first'), /not found/)
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await create(page).click()
  await results(page).filter({ hasText: 'is created' }).nth(1).waitFor()
  deepEqual(
    [(await configMapOf('first')).data, (await configMapOf('second')).data],
    [{ color: 'red' }, { color: 'blue' }],
  )
  await page.getByRole('link', { name: 'ConfigMap default/second' }).click()
  await page.getByRole('article', { name: 'configmaps second' }).waitFor()
  // The text is still there.
  await page.getByRole('button', { name: 'Close' }).click()
  await editor.locator('.cm-line', { hasText: 'name: second' }).waitFor()
})

test('what the server rejects is marked in its document; an object of another manager is a conflict', async () => {
  const metadata = { name: 'theirs', namespace: 'default' }
  await cluster.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { color: 'red' } }])
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=configmaps`)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const editor = newObjectsEditor(page)
  await fillEditor(page, `${manifest('mine', 'green')}---\n${manifest('theirs', 'blue')}`, editor)
  await check(page).click()
  await results(page).filter({ hasText: 'would be created' }).waitFor()
  await results(page)
    .filter({ hasText: /conflict/ })
    .waitFor()
  await editor.locator('.cm-lintRange-error', { hasText: 'color' }).hover()
  await page.locator('.cm-diagnostic', { hasText: '.data.color: conflict with' }).waitFor()
  equal(await editor.locator('.cm-lintRange-error').count(), 1)
  equal(await create(page).isDisabled(), true)
  await rejects(configMapOf('mine'), /not found/)
})

const values: Readonly<Record<string, string>> = {
  Name: 'formed',
  Image: 'nginx',
  Schedule: '*/5 * * * *',
  Service: 'web',
  'Labels of the pods': 'app=formed',
  Data: 'color=red\nshape=round',
}

test('each form fills the editor, is checked, and shows errors at their fields', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=deployments.apps`)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const form = page.getByRole('group', { name: 'Form' })
  const editor = newObjectsEditor(page)
  const chooser = form.getByRole('combobox', { name: 'Form', exact: true })
  await editor.locator('.cm-line', { hasText: 'kind: Deployment' }).waitFor()
  await check(page).click()
  const control = (label: string) => form.getByLabel(label, { exact: true })
  const problemOf = (label: string) =>
    form.locator('.field', { has: page.getByLabel(label, { exact: true }) }).getByRole('alert')
  await problemOf('Name').getByText('must not be empty').waitFor()
  await control('Name').fill('Wrong name')
  await control('Image').fill('nginx')
  await control('Replicas').fill('-1')
  await check(page).click()
  await problemOf('Name')
    .getByText(/RFC 1123 subdomain/)
    .waitFor()
  deepEqual(await accessibilityFindingsEverywhere(page), [])
  await page.setViewportSize({ width: 1280, height: 800 })
  await problemOf('Replicas')
    .getByText(/must be greater than or equal to 0/)
    .waitFor()
  await control('Name').fill('formed')
  await control('Replicas').fill('many')
  await check(page).click()
  await problemOf('Replicas').getByText('must be a whole number').waitFor()
  equal(await create(page).isDisabled(), true)

  for (const { kind, fields } of creationForms) {
    await chooser.selectOption(kind)
    for (const { label, isRequired, start } of fields)
      if (values[label] !== undefined && (isRequired || start === '')) await control(label).fill(values[label])
    await editor.locator('.cm-line', { hasText: 'name: formed' }).first().waitFor()
    await check(page).click()
    await results(page)
      .filter({ hasText: `${kind} ` })
      .filter({ hasText: 'would be created' })
      .waitFor()
  }

  await chooser.selectOption('ConfigMap')
  await control('Name').fill('formed')
  await control('Data').fill('color=red\nshape=round')
  await check(page).click()
  await results(page).filter({ hasText: 'would be created' }).waitFor()
  await create(page).click()
  await results(page).filter({ hasText: 'is created' }).waitFor()
  deepEqual((await configMapOf('formed')).data, { color: 'red', shape: 'round' })
  // What is typed in the editor is no form any more.
  await fillEditor(page, manifest('typed', 'red'), editor)
  await control('Name').waitFor({ state: 'detached' })
  equal(await chooser.inputValue(), '')
})

test('a namespace, a definition and their objects are created with the keyboard alone', async () => {
  const definition = [
    'apiVersion: apiextensions.k8s.io/v1',
    'kind: CustomResourceDefinition',
    'metadata: {name: gadgets.example.com}',
    'spec:',
    '  group: example.com',
    '  scope: Namespaced',
    '  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}',
    '  versions:',
    '  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}',
  ].join('\n')
  const gadget = 'apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: one, namespace: shop}\nspec: {}'
  const text = ['apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}', definition, gadget].join('\n---\n')
  await using opened = await logIn()
  const { page } = opened
  await page.keyboard.press('Control+k')
  await page.keyboard.type('create objects')
  await page.getByRole('option', { name: 'Create objects from YAML' }).waitFor()
  await page.keyboard.press('Enter')
  const editor = newObjectsEditor(page)
  // The editor has the focus.
  await editor.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await check(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await results(page).filter({ hasText: 'It is checked when its kind exists.' }).waitFor()
  await page.keyboard.press('Tab')
  await create(page).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await results(page).filter({ hasText: 'is created' }).nth(2).waitFor()
  await page.getByRole('link', { name: 'Gadget shop/one' }).waitFor()
})

test('markup in names and errors is text', async () => {
  await using opened = await logIn()
  const { page } = opened
  const hostile = `<img src=x onerror="document.title='hostile'">`
  await page.goto(`${cluster.url}/ui/#objects?resource=configmaps`)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const editor = newObjectsEditor(page)
  await fillEditor(page, `${manifest(JSON.stringify(hostile), 'red')}---\nkind: ${JSON.stringify(hostile)}`, editor)
  await check(page).click()
  await results(page).filter({ hasText: 'onerror' }).nth(1).waitFor()
  equal(await page.title(), 'Coxswain')
  equal(await page.locator('img').count(), 0)
})

test('in the past nothing is created', async () => {
  await using opened = await logIn()
  const { page } = opened
  await page.goto(`${cluster.url}/ui/#objects?resource=configmaps`)
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await newObjectsEditor(page).waitFor()
  await page.getByRole('slider').focus()
  await page.keyboard.press('ArrowLeft')
  await page.locator('.past').waitFor()
  equal(await newObjectsEditor(page).count(), 0)
  equal(await page.getByRole('button', { name: 'Create', exact: true }).count(), 0)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('create objects')
  await page.getByRole('option', { name: 'Create objects from YAML' }).waitFor({ state: 'detached' })
})
