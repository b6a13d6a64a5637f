// The web page and real containers: the flow of a pod that starts, lists, an explanation, history, events and the map; the log of
// a container grows, a terminal runs a shell in it, and so does a debug container.
import { deepEqual, ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { inNamespaces } from '../containers/namespaces.ts'
import { startRealUp } from '../containers/up.harness.ts'
import { accessibilityFindings, buildPage, openBrowser, openSession } from './chromium.ts'

const hostile = '<img src=x onerror="document.title=1">'
const printing = `echo '${hostile}'; trap "exit 0" TERM; i=0; while true; do i=$((i+1)); echo "line $i"; sleep 0.2; done`

/** Waits until the terminal shows a text. */
const shown = (page: Page, text: RegExp): Promise<void> =>
  page.locator('.xterm-rows', { hasText: text }).waitFor({ timeout: 20_000 })

const startMsMax = 120_000

inNamespaces(import.meta.url, () => {
  test('the page follows a pod from its start to commands in its terminal', async () => {
    await buildPage()
    await using up = await startRealUp()
    await using stack = new AsyncDisposableStack()
    const browser = stack.adopt(await openBrowser(), (each) => each.close())
    const { page } = stack.use(await openSession(browser, await readFile(up.kubeconfig, 'utf8')))
    const show = (fragment: string): Promise<unknown> => page.evaluate((hash) => (location.hash = hash), fragment)
    const open = (tab: string, name = 'web'): Promise<unknown> => show(`objects?object=pods/default/${name}&tab=${tab}`)

    // The diagram of a pod that does not exist yet grows until its containers run.
    await show('flows?object=pods/default/web')
    await page.getByText('Nothing is recorded about this object.').waitFor()
    const podOf = (name: string, containers: readonly object[]): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      // The browser aborts its requests when an interface is added.
      spec: { terminationGracePeriodSeconds: 1, hostNetwork: true, containers },
    })
    await up.apply(
      podOf('web', [
        { name: 'c', image: up.image, command: ['/bin/sh', '-c', printing] },
        { name: 'second', image: up.image },
      ]),
    )
    await up.apply(podOf('lost', [{ name: 'c', image: 'none.invalid/none:1', imagePullPolicy: 'Never' }]))
    const message = (text: RegExp) => page.locator('[data-event]', { hasText: text }).first()
    await message(/bind.* web/i).waitFor({ timeout: startMsMax })
    await page.locator('.diagram .box text', { hasText: 'Runtime' }).waitFor({ timeout: startMsMax })

    await show('objects')
    await page.locator('tr[data-name="web"]', { hasText: '2/2' }).waitFor({ timeout: startMsMax })
    await page.locator('tr[data-name="lost"]', { hasText: 'ErrImageNeverPull' }).waitFor({ timeout: startMsMax })
    await page.getByRole('searchbox').fill('ErrImageNeverPull')
    await page.getByText('1 of 2').waitFor()
    await page.getByRole('button', { name: 'lost' }).click()
    await page.getByRole('note').getByText('none.invalid/none:1').first().waitFor()
    await open('Events', 'lost')
    await page.locator('tr', { hasText: 'ErrImageNeverPull' }).first().waitFor()
    await open('History')
    await page
      .getByText(/by kubelet\//)
      .first()
      .waitFor()
    await show('map')
    await page.locator('.pod.ready[data-pod="web"]').waitFor()
    await page.locator('.pod.failing[data-pod="lost"]').waitFor()
    await page.locator('[data-line*="Runtime"]').first().waitFor()

    await open('Logs')
    const log = page.getByRole('log')
    await log.getByText(hostile).waitFor()
    await log.getByText(/line 1\n/).waitFor()
    const lines = (await log.innerText()).trim().split('\n').length
    // What is printed later follows.
    await log.getByText(`line ${lines + 10}\n`).waitFor()
    await page.waitForFunction(() => {
      const element = document.querySelector('.log') as Element
      return element.scrollTop + element.clientHeight >= element.scrollHeight - 40
    })

    await open('Terminal')
    await shown(page, /~ #/)
    deepEqual(await accessibilityFindings(page), [])
    await page.keyboard.type('echo $((6*7))-$(cat /etc/word)\n')
    await shown(page, /42-inside/)
    const columns = async (name: string): Promise<number> => {
      await page.keyboard.type(`echo ${name}=$(stty size)=\n`)
      const size = new RegExp(`${name}=\\d+ (\\d+)=`)
      await shown(page, size)
      return Number(size.exec(await page.locator('.xterm-rows').innerText())?.[1])
    }
    const wide = await columns('wide')
    const { width = 0 } = (await page.locator('.xterm-screen').boundingBox()) ?? {}
    await page.setViewportSize({ width: 800, height: 800 })
    await page.waitForFunction((px) => (document.querySelector('.xterm-screen')?.clientWidth ?? px) < px, width)
    const narrow = await columns('narrow')
    ok(narrow < wide, `${narrow} and ${wide} columns`)
    // Colors of 24 bits need style attributes, which the content security policy blocks.
    await page.keyboard.type('printf "\\033[38;2;1;2;3mcolored\\033[0m\\n"; printf "\\033[31mred\\033[0m\\n"\n')
    await shown(page, /colored.*red/s)
    // A command cannot change the title of the page.
    await page.keyboard.type('printf "\\033]0;other\\007\\033]2;other\\007titled\\n"\n')
    await shown(page, /titled/)
    deepEqual([await page.title(), await page.locator('#page img').count()], ['Coxswain', 0])
    await page.keyboard.type('exit 3\n')
    await shown(page, /The command ended with exit code 3\./)
    // Another container has another terminal.
    await page.getByRole('button', { name: 'second' }).click()
    await shown(page, /~ #/)

    // A debug container sees the processes of the container that it is for.
    await page.getByRole('article').getByRole('button', { name: 'Debug' }).click()
    const dialog = page.getByRole('dialog', { name: 'Debug Pod web?' })
    await dialog.getByRole('combobox', { name: 'Sees the processes of' }).selectOption('c')
    await dialog.getByRole('textbox', { name: 'Image' }).fill(up.shellImage)
    await dialog.getByText(`kubectl debug -it web --image=${up.shellImage} --target=c -n default`).waitFor()
    deepEqual(await accessibilityFindings(page), [])
    await page.keyboard.press('Enter')
    await page.getByText('Pod web has a debug container.').waitFor()
    await page.getByRole('button', { name: 'debugger-1', pressed: true }).waitFor()
    await page.getByText('If there is no prompt, press Enter.').waitFor({ timeout: startMsMax })
    await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' })
    await page.keyboard.type('\ngrep -c "line" /proc/1/cmdline; echo $((6*7))-debug\n')
    await shown(page, /1\s*42-debug/)
    // Who comes back is in the same shell.
    await page.keyboard.type('word=kept\n')
    await open('Summary')
    await open('Terminal&container=debugger-1')
    await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' })
    await page.keyboard.type('\necho $word-$((6*7))\n')
    await shown(page, /kept-42/)
    await page.keyboard.type('exit 3\n')
    await page.getByText('The container has ended with exit code 3. Debug adds another one.').waitFor()
  })
})
