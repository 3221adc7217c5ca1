import { useEffect, useState } from 'preact/hooks'

const themes = ['auto', 'light', 'dark'] as const
type ThemeName = (typeof themes)[number]

/** A button that chooses the colours: those of the machine, light or dark. */
export function Theme() {
  const [theme, setTheme] = useState<ThemeName>(storedTheme)
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  const turn = () => {
    const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto'
    setTheme(next)
    try {
      localStorage.setItem('theme', next)
    } catch {
      // A browser that keeps nothing: the choice lasts until the page is closed.
    }
  }
  const sign = { auto: '◐', light: '☀', dark: '☾' }[theme]
  return (
    <button class="theme" type="button" onClick={turn} aria-label={`colours: ${theme}`} title={`colours: ${theme}`}>
      {sign}
    </button>
  )
}

function storedTheme(): ThemeName {
  try {
    const stored = localStorage.getItem('theme')
    return themes.find((name) => name === stored) ?? 'auto'
  } catch {
    return 'auto'
  }
}
