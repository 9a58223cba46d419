"""How many memories there are of each kind, each count a way to them; and those that are true no longer."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.api import Api
from tests.browser.visiting import Visits


def cards(page: Page) -> Locator:
    return page.get_by_role("article")


def test_the_page_says_how_many_there_are_of_each_kind_and_each_count_leads_to_them(
    visit: Visits, api: Api
) -> None:
    api.remember(
        {"id": "a", "content": "Drinks green tea", "category": "preference"},
        {"id": "b", "content": "在北京工作", "category": "fact"},
        {"id": "c", "content": "Ships on Thursdays", "category": "fact", "source": "inferred"},
        {"id": "d", "content": "没有类别", "memoryType": "short_term"},
    )
    page = visit().go("memories")
    facets = page.get_by_role("group", name="How many memories")
    expect(facets).to_contain_text("4 memories")
    counts = ("Fact 2", "Preference 1", "Long-term 2", "Short-term 2", "stated by the user 3", "inferred 1")
    for name in counts:
        expect(facets.get_by_role("button", name=name, exact=True)).to_be_visible()
    expect(facets).to_contain_text("No category 1")

    fact = facets.get_by_role("button", name="Fact 2", exact=True)
    inferred = facets.get_by_role("button", name="inferred 1")
    fact.click()
    expect(cards(page)).to_have_count(2)
    expect(fact).to_have_attribute("aria-pressed", "true")
    expect(facets).to_contain_text("2 memories")
    expect(facets.get_by_role("button", name="Preference 1")).to_be_visible()  # which are still there
    expect(page.get_by_role("combobox", name="Category")).to_have_value("fact")
    inferred.click()
    expect(cards(page)).to_have_count(1)
    expect(facets).to_contain_text("1 memory")
    page.reload()
    expect(cards(page)).to_have_count(1)
    inferred.click()
    fact.click()
    expect(cards(page)).to_have_count(4)

    # The counts follow what is changed and forgotten.
    short = cards(page).filter(has_text="没有类别")
    short.get_by_role("button", name="Make long-term").click()
    expect(facets.get_by_role("button", name="Long-term 3")).to_be_visible()
    short.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Dismiss").last.click()
    expect(facets).to_contain_text("3 memories")

    # What is true no longer is shown when it is asked for.
    api.client.post("/memories/a/supersede", json={"memory": {"content": "Drinks oolong"}}).raise_for_status()
    page.get_by_role("combobox", name="State").select_option("ended")
    expect(cards(page)).to_have_count(1)
    expect(cards(page)).to_contain_text("Drinks green tea")
    expect(cards(page)).to_contain_text("Superseded")
    expect(facets).to_contain_text("1 memory")
    page.get_by_role("combobox", name="Source").select_option("inferred")
    expect(cards(page)).to_have_count(0)
    expect(page.get_by_text("No memory fits these filters.")).to_be_visible()
