// Elements that grow at their end, such as logs, stay scrolled to it, unless the user has scrolled to older content.

const selector = '[data-follows-end]'
/** An element that is scrolled this close to its end follows it. */
const endPx = 40

export function keepingEnd(root: Element, draw: () => void): void {
  const scrolledBack = [...root.querySelectorAll(selector)].filter(
    ({ scrollTop, clientHeight, scrollHeight }) => scrollTop + clientHeight < scrollHeight - endPx,
  )
  draw()
  for (const element of root.querySelectorAll(selector))
    if (!scrolledBack.includes(element)) element.scrollTop = element.scrollHeight
}
