// The editor of YAML in tests. It is no form field: its text is that of its lines.
import type { Locator, Page } from 'playwright-core'

export const editorOf = (page: Page): Locator => page.getByRole('textbox', { name: 'YAML to apply' })

/** The editor of objects that are being created. */
export const newObjectsEditor = (page: Page): Locator => page.getByRole('textbox', { name: 'YAML to create' })

/** The text of a short document, of which every line is in the page. */
export async function editorText(page: Page, editor = editorOf(page)): Promise<string> {
  const lines = editor.locator('.cm-line')
  await lines.first().waitFor()
  return (await lines.allTextContents()).join('\n')
}

/** Types a text instead of the present one, in one piece. */
export async function fillEditor(page: Page, text: string, editor = editorOf(page)): Promise<void> {
  await editor.press('Control+a')
  await page.keyboard.insertText(text)
}

/** Waits until the editor shows a text, and changes it. */
export async function replaceInEditor(page: Page, from: string | RegExp, to: string): Promise<void> {
  const line = typeof from === 'string' ? from : new RegExp(from.source.replace('^', ''))
  await editorOf(page).locator('.cm-line', { hasText: line }).first().waitFor()
  await fillEditor(page, (await editorText(page)).replace(from, to))
}
