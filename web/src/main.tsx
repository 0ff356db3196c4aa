// The page: where its data come from, its address, and the frame with the view that the address names.
import { render } from "preact";
import { findHosts, showsAgents } from "./data/agents.ts";
import { hasBlocks, ReportSource } from "./data/report_source.ts";
import { keepToken, ServerSource } from "./data/server_source.ts";
import { source } from "./data/use.ts";
import { watchJobs } from "./data/watch.ts";
import { catchFailures } from "./failures.tsx";
import { closeMenusWhenLeft } from "./menus.ts";
import { Page } from "./page.tsx";
import { followReadiness } from "./ready.ts";
import { followAddress, goTo, linkTo } from "./state.ts";
import "./early.css";
import style from "./style.css?inline";

const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
document.adoptedStyleSheets = [sheet];
keepToken();
// A server that was started anew has another token: its address may be opened in the tab of the old one.
addEventListener("hashchange", () => {
  if (keepToken()) location.reload();
});
source.value = hasBlocks() ? new ReportSource() : new ServerSource();
catchFailures();
followAddress();
followReadiness();
closeMenusWhenLeft();
watchJobs();
void findHosts((hasTraces) => {
  if (location.hash === "" && !hasTraces && showsAgents()) goTo(linkTo("live"));
});
render(<Page />, document.getElementById("app")!);
document.getElementById("static")!.hidden = true;
